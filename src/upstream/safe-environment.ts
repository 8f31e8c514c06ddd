/** What a child may see of the gateway's own environment: who and where it runs, its locale, nothing that could be a secret. */
const POSIX = ['HOME', 'LANG', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'TMPDIR', 'TZ', 'USER'];
const WINDOWS = [
  'APPDATA',
  'COMSPEC',
  'HOMEDRIVE',
  'HOMEPATH',
  'LOCALAPPDATA',
  'PATH',
  'PATHEXT',
  'PROCESSOR_ARCHITECTURE',
  'PROGRAMFILES',
  'SYSTEMDRIVE',
  'SYSTEMROOT',
  'TEMP',
  'TMP',
  'USERNAME',
  'USERPROFILE',
];

/**
 * The whole environment of a child: the safe names of `parent`, then `own`, which wins. `own` adds to the safe list and
 * never widens it. A parent value that begins with `()` is an exported shell function and is left out.
 */
export function safeEnvironment(
  parent: NodeJS.ProcessEnv,
  own: Readonly<Record<string, string>> = {},
  platform: NodeJS.Platform = process.platform,
): Record<string, string> {
  const environment = new Map<string, string>();
  for (const [name, value] of Object.entries(parent)) {
    if (value !== undefined && !value.startsWith('()') && isSafe(name, platform)) environment.set(name, value);
  }
  return { ...Object.fromEntries(environment), ...own };
}

function isSafe(name: string, platform: NodeJS.Platform): boolean {
  if (platform === 'win32') return WINDOWS.includes(name.toUpperCase());
  return POSIX.includes(name) || /^LC_[A-Z]+$/.test(name);
}
