import { randomBytes } from 'node:crypto';

/** Secrets that are looked for afterwards. */
export interface Canaries {
  /** A text that never was before, fit for a header, a token of RFC 6750 and a subprotocol. */
  make(name: string): string;
  /** One that was made elsewhere: a token, a ticket. */
  know(name: string, secret: string): string;
  /** Names of those of which a text holds a part: as it is, URL-encoded, in hex, or in base64 wherever in it. */
  seenIn(text: string): string[];
}

/** Characters of a secret that are enough to have told of it. */
const PART = 24;

export function canaries(): Canaries {
  const traces = new Map<string, readonly string[]>();
  return {
    make(name) {
      const core = randomBytes(PART / 2).toString('hex');
      traces.set(name, formsOf(core));
      return `canary+${core}.`;
    },
    know(name, secret) {
      traces.set(name, partsOf(secret).flatMap(formsOf));
      return secret;
    },
    seenIn: (text) =>
      [...traces].filter(([, forms]) => forms.some((form) => text.includes(form))).map(([name]) => name),
  };
}

/** A secret cut where it begins and ends anew is found whole in one of these or not at all. */
function partsOf(secret: string): string[] {
  if (secret.length <= PART) return [secret];
  const count = Math.floor(secret.length / PART);
  return Array.from({ length: count }, (_, n) => secret.slice(n * PART, (n + 1) * PART));
}

function formsOf(part: string): string[] {
  const forms = [part, encodeURIComponent(part), Buffer.from(part).toString('hex')];
  for (const offset of [0, 1, 2]) forms.push(...base64At(part, offset));
  return [...new Set(forms)];
}

/** What of its base64 does not depend on the bytes around it. */
function base64At(part: string, offset: number): string[] {
  const bytes = Buffer.from('x'.repeat(offset) + part);
  const text = bytes.toString('base64').slice(Math.ceil((offset * 4) / 3), Math.floor(bytes.length / 3) * 4);
  return [text, text.replaceAll('+', '-').replaceAll('/', '_')];
}
