/** The names of the gateway's keys: `{<prefix>}:<rest>`. The braces put all of them in one slot of a cluster, so that one script may touch several. */
export function keysOf(prefix: string): (rest: string) => string {
  return (rest) => `{${prefix}}:${rest}`;
}
