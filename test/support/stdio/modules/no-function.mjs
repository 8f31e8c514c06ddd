export const createServer = 'not a function';
