/** Shorter ones would mask ordinary words, and are no secrets. */
const MIN_SECRET = 8;

/** Takes these values out of text that goes to a person: what a child was given may be what it prints. */
export function masking(values: readonly string[]): (text: string) => string {
  const secrets = [...new Set(values)].filter((value) => value.length >= MIN_SECRET);
  secrets.sort((a, b) => b.length - a.length);
  return (text) => secrets.reduce((masked, secret) => masked.replaceAll(secret, '[redacted]'), text);
}
