// The line server of plain.mjs, with the same argument, that ignores SIGTERM and the end of its stdin.
process.on('SIGTERM', () => {});
process.exit = () => {};
setInterval(() => {}, 60_000);
await import('./plain.mjs');
