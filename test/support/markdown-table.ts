/** The rows under the header line `header` (with its outer bars), cells without code marks. Throws where the page has no such table. */
export function tableUnder(markdown: string, header: string): string[][] {
  const lines = markdown.split('\n');
  const at = lines.indexOf(header);
  if (at === -1) throw new Error(`no table ${header}`);
  const rest = lines.slice(at + 2);
  const end = rest.findIndex((line) => !line.startsWith('|'));
  return rest.slice(0, end === -1 ? undefined : end).map(cells);
}

function cells(row: string): string[] {
  return row
    .replaceAll('`', '')
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());
}
