export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\\\|\\"|\\n)*)"(?:,|$)/y;
const ESCAPES: Readonly<Record<string, string>> = { '\\\\': '\\', '\\"': '"', '\\n': '\n' };

/** Reads the text format 0.0.4 strictly: throws on a line that is neither comment nor sample. */
export function parseMetrics(text: string): Sample[] {
  if (!text.endsWith('\n')) throw new Error('the last line does not end');
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('# '));
  return lines.map((line) => {
    const [, name = '', labels = '', value = ''] = SAMPLE.exec(line) ?? [];
    const number = Number(value.replace('+Inf', 'Infinity'));
    // prom-client writes `Nan` for a mean over nothing.
    if (name === '' || (Number.isNaN(number) && value !== 'Nan')) throw new Error(`not a sample: ${line}`);
    return { name, labels: parseLabels(labels), value: number };
  });
}

function parseLabels(text: string): Record<string, string> {
  const labels: Record<string, string> = {};
  for (let at = 0; at < text.length; at = LABEL.lastIndex) {
    LABEL.lastIndex = at;
    const [, name, value] = LABEL.exec(text) ?? [];
    if (name === undefined || value === undefined) throw new Error(`not a label: ${text.slice(at)}`);
    labels[name] = value.replaceAll(/\\[\\"n]/g, (pair) => ESCAPES[pair] ?? '');
  }
  return labels;
}

/** The value of the one sample with this name and exactly these labels; undefined when there is none. */
export function sampleValue(samples: readonly Sample[], name: string, labels: Record<string, string> = {}) {
  const wanted = JSON.stringify(Object.entries(labels).sort());
  return samples.find((one) => one.name === name && JSON.stringify(Object.entries(one.labels).sort()) === wanted)
    ?.value;
}
