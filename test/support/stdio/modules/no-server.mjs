export default () => ({ name: 'not a server' });
