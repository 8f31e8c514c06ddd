/** The key of the one upstream behind a gateway under measurement, and what it puts before the names of its tools. */
export const UPSTREAM = 'bench';
export const PREFIX = `${UPSTREAM}__`;
