// For `node --require`: every TCP listener of the process listens on 127.0.0.1, whatever host it asks for or leaves out.
// Some servers listen on all interfaces, and whoever reaches such a port goes round the gateway.
const { Server } = require('node:net');

const { listen } = Server.prototype;

Server.prototype.listen = function listenOnLoopback(first, ...rest) {
  if (isPort(first)) {
    const others = typeof rest[0] === 'string' ? rest.slice(1) : rest;
    return listen.call(this, first, '127.0.0.1', ...others);
  }
  const hasPort = typeof first === 'object' && first !== null && first.port !== undefined && first.path === undefined;
  return listen.call(this, hasPort ? { ...first, host: '127.0.0.1' } : first, ...rest);
};

function isPort(value) {
  return typeof value === 'number' || (typeof value === 'string' && /^\d+$/.test(value));
}
