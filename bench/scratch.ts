import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

let directory: string | undefined;
let files = 0;

/** The path of a new file with this text. It lives as long as this process. */
export function scratchFile(text: string): string {
  directory ??= createDirectory();
  files += 1;
  const file = join(directory, String(files));
  writeFileSync(file, text);
  return file;
}

function createDirectory(): string {
  const created = mkdtempSync(join(tmpdir(), 'bench-'));
  process.once('exit', () => rmSync(created, { recursive: true, force: true }));
  return created;
}
