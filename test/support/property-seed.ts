// Before each test file: with FC_SEED set, every property starts from that seed. A failing property prints its own.
const { FC_SEED: seed } = process.env;
if (seed !== undefined) {
  const { default: fc } = await import('fast-check');
  fc.configureGlobal({ seed: Number(seed) });
}

export {};
