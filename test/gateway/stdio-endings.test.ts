import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isAlive, openChild, scripted } from '../support/stdio/child.ts';
import { realClock } from '../support/stdio/recorders.ts';

describe('a stdio channel ends', () => {
  it('with the signal when the child is killed in mid-stream', async () => {
    const { call, send, receiver, channel } = await openChild();
    const { pid } = await call('pid');
    send('flood');
    await receiver.next();
    const from = performance.now();
    process.kill(Number(pid), 'SIGKILL');
    expect((await receiver.whenClosed).cause?.message).toBe('the process was killed by SIGKILL');
    expect(performance.now() - from).toBeLessThan(1000);
    expect(channel.send('{}')).toBe(false);
    expect(receiver.closings).toHaveLength(1);
  });

  it('with the exit code, after everything the child wrote, however long the owner pauses', async () => {
    const due: (() => void)[] = [];
    const after = (_: number, task: () => void) => {
      due.push(task);
      return () => due.splice(due.indexOf(task), 1);
    };
    const { channel, receiver, send } = await openChild({ clock: { ...realClock, after } });
    send('raw', { text: '{"a":1}\n{"a":2}' });
    send('exit', { code: 7 });
    channel.pause();
    await expect.poll(() => due.length).toBe(1);
    expect(channel.send('{}')).toBe(false);
    for (const task of due) task();
    await setImmediate();
    expect([receiver.messages, receiver.closings]).toEqual([[], []]);
    channel.resume();
    expect((await receiver.whenClosed).cause?.message).toBe('the process exited with code 7');
    expect(receiver.messages).toEqual(['{"a":1}', '{"a":2}']);
  });

  it('when the child closes its stdin, and survives writing to it', async () => {
    const { call, channel, receiver } = await openChild();
    await call('closeStdin');
    const writes = () => {
      channel.send(`{"pad":"${'x'.repeat(1000)}"}`);
      return receiver.closings.length;
    };
    await expect.poll(writes).toBe(1);
    const { cause } = await receiver.whenClosed;
    expect(cause?.cause).toMatchObject({ code: 'EPIPE' });
  });

  it('when the child closes its stdout and lives on', async () => {
    const { call, send, receiver } = await openChild({ stopGrace: { stdin: 50, term: 500, kill: 500 } });
    const { pid } = await call('pid');
    send('closeStdout');
    expect((await receiver.whenClosed).cause?.message).toBe('the process was killed by SIGTERM');
    expect(isAlive(pid)).toBe(false);
  });

  it('although a process outside the group holds its stdout open', async () => {
    const { receiver, send } = await openChild({
      command: 'sh',
      args: ['-c', `setsid sleep 60 & echo $!; exec "${process.execPath}" "${scripted}"`],
    });
    const holder = Number(await receiver.next());
    onTestFinished(() => void process.kill(holder, 'SIGKILL'));
    send('exit', { code: 0 });
    expect((await receiver.whenClosed).cause?.message).toBe('the process exited with code 0');
    expect(isAlive(holder)).toBe(true);
  });
});

describe('a stdio channel does not open', () => {
  it.each([
    ['an unknown command', { command: 'no-such-command' }, 'cannot start "no-such-command": no such command'],
    ['no command but a folder', { command: '/' }, 'cannot start "/": not executable'],
    [
      'a missing working directory',
      { cwd: '/no/such/place' },
      /^cannot start ".*": its working directory does not exist$/,
    ],
    ['a name no system takes', { command: 'a\0b' }, 'cannot start "a\\u0000b": ERR_INVALID_ARG_VALUE'],
  ])('for %s, and says so', async (_, options, message) => {
    await expect(openChild(options)).rejects.toThrow(message);
  });
});
