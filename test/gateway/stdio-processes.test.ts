import { describe, expect, it } from 'vitest';
import { isAlive, node, openChild, scripted } from '../support/stdio/child.ts';

describe('processes behind a stdio channel', () => {
  it('are gone after close, behind a shell wrapper too', async () => {
    const { channel, call, children } = await openChild({
      command: 'sh',
      args: ['-c', `"${node}" "${scripted}"; true`],
    });
    const { pid } = await call('pid');
    expect(isAlive(pid)).toBe(true);
    expect(children()).toBe(1);
    await channel.close();
    expect(isAlive(pid)).toBe(false);
    expect(children()).toBe(0);
  });

  it('are killed when they ignore the end of stdin and SIGTERM', async () => {
    const { channel, call } = await openChild({
      command: 'sh',
      args: ['-c', `"${node}" "${scripted}" --stubborn; true`],
      stopGrace: { stdin: 50, term: 50, kill: 1000 },
    });
    const { pid } = await call('pid');
    await channel.close();
    expect(isAlive(pid)).toBe(false);
  });

  it('are stopped within two seconds by default', async () => {
    const { channel, call } = await openChild({ args: [scripted, '--stubborn'] });
    await call('pid');
    const from = performance.now();
    await channel.close();
    expect(performance.now() - from).toBeLessThan(2000);
  });

  it('are gone also when the one that was started exits before the others', async () => {
    const { send, receiver, children } = await openChild({ stopGrace: { stdin: 50, term: 50, kill: 1000 } });
    send('sibling');
    const { announced } = JSON.parse(await receiver.next());
    send('exit', { code: 3 });
    expect((await receiver.whenClosed).cause?.message).toBe('the process exited with code 3');
    await expect.poll(children).toBe(0);
    expect(isAlive(announced)).toBe(false);
  });

  it('can be killed at once, without waiting, at the gateway’s own exit', async () => {
    const tasks = new Set<() => void>();
    const { call, receiver, channel } = await openChild({
      command: 'sh',
      args: ['-c', `"${node}" "${scripted}" --stubborn; true`],
      atExit(task) {
        tasks.add(task);
        return () => tasks.delete(task);
      },
    });
    const { pid } = await call('pid');
    for (const kill of tasks) kill();
    expect((await receiver.whenClosed).cause?.message).toBe('the process was killed by SIGKILL');
    await expect.poll(() => isAlive(pid)).toBe(false);
    await channel.close();
    expect(tasks.size).toBe(0);
  });
});
