/**
 * Whether a URI has only one reading, so that a glob that matches its text (or does not) says something about what the
 * owner will open. False for dot segments, a backslash, percent-encoding of what needs none (RFC 3986 section 2.3), of
 * a slash, a backslash or a control, also when encoded twice, a doubled slash in a file path, text that is not a URI,
 * and text that differs from its WHATWG form.
 */
export function hasOneReading(uri: string): boolean {
  if (uri.includes('\\') || hasDotSegment(uri) || hasAliasEncoding(uri)) return false;
  if (uri.startsWith('file:') && uri.includes('//', 'file://'.length)) return false;
  return URL.canParse(uri) && new URL(uri).href === uri;
}

/** The same for a URI template (RFC 6570): judged by its text with each expression replaced by a plain word. */
export function templateHasOneReading(template: string): boolean {
  let plain = '';
  let at = 0;
  for (let open = template.indexOf('{'); open !== -1; open = template.indexOf('{', at)) {
    const close = template.indexOf('}', open);
    if (close === -1) return false;
    plain += `${template.slice(at, open)}x`;
    at = close + 1;
  }
  return hasOneReading(plain + template.slice(at));
}

/** Scheme in lower case, undefined where the text does not plainly start with one (RFC 3986 section 3.1). */
export function schemeOf(text: string): string | undefined {
  return /^([a-z][a-z0-9+.-]*):/i.exec(text)?.[1]?.toLowerCase();
}

/** Also in query, fragment and opaque paths, and before path parameters (`..;x`): some server takes each for a path. */
function hasDotSegment(uri: string): boolean {
  return uri.split(/[/?#:;]/).some((segment) => segment === '.' || segment === '..');
}

function hasAliasEncoding(uri: string): boolean {
  for (let at = uri.indexOf('%'); at !== -1; at = uri.indexOf('%', at)) {
    at += 1;
    if (!isHexPair(uri, at)) return true;
    while (uri.startsWith('25', at) && isHexPair(uri, at + 2)) at += 2;
    if (isAlias(Number.parseInt(uri.slice(at, at + 2), 16))) return true;
  }
  return false;
}

function isHexPair(text: string, at: number): boolean {
  return /^[0-9a-f]{2}$/i.test(text.slice(at, at + 2));
}

function isAlias(byte: number): boolean {
  return byte < 0x20 || byte === 0x7f || /[A-Za-z0-9\-._~/\\]/.test(String.fromCharCode(byte));
}
