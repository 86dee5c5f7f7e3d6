/** The output of the log fails: its disk is full, or its reader has ended. */
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createLogChannel } from '../../../src/notify/channels/log.ts';
import type { Content } from '../../../src/notify/domain/message.ts';
import { createLog } from '../../../src/platform/log.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tallyhook-log-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** An output that cannot be written, as a file on a full disk. */
function openUnwritable(): number {
  const file = join(folder, 'log');
  closeSync(openSync(file, 'w'));
  return openSync(file, 'r');
}

const TEST: Content = { kind: 'test', at: '2026-11-30T00:00:00.000Z' };
const send = (log: ReturnType<typeof createLog>) =>
  createLogChannel(log, { name: 'shop' } as never).send({
    id: 'msg_1',
    content: TEST,
    createdAt: new Date(0),
  });

test('an alert that the log could not write is not delivered', async () => {
  const output = openUnwritable();
  try {
    const log = createLog('info', output);
    expect(await send(log)).toEqual({
      outcome: 'unavailable',
      response: 'the log cannot be written: EBADF',
    });
  } finally {
    closeSync(output);
  }
});

test('an alert that the log has written is delivered, also in a file', async () => {
  const output = openSync(join(folder, 'log'), 'w');
  try {
    const log = createLog('info', output);
    expect(await send(log)).toEqual({ outcome: 'delivered', response: 'written' });
    expect(await send(log)).toEqual({ outcome: 'delivered', response: 'written' });
  } finally {
    closeSync(output);
  }
});

/** Opens a file for writing under the descriptor of another one. */
function makeWritable(output: number): void {
  closeSync(output);
  const others: number[] = [];
  for (;;) {
    const opened = openSync(join(folder, 'log'), 'w');
    if (opened === output) break;
    others.push(opened);
    if (others.length > 100) throw new Error('the descriptor was taken');
  }
  for (const other of others) closeSync(other);
}

test('the log continues once its output can be written, also after lines were dropped', async () => {
  const output = openUnwritable();
  try {
    const log = createLog('info', output);
    expect(await send(log)).toMatchObject({ outcome: 'unavailable' });
    for (const length of [1024 * 1024, 10_000, 100])
      for (let line = 0; line < (length > 10_000 ? 6 : 150); line += 1)
        log.info({ text: 'x'.repeat(length) }, 'kept');
    const full = {
      outcome: 'unavailable',
      response: 'the log cannot be written: nothing reads it',
    };
    await vi.waitFor(async () => expect(await send(log)).toEqual(full), 20_000);
    makeWritable(output);
    await vi.waitFor(
      async () => expect(await send(log)).toEqual({ outcome: 'delivered', response: 'written' }),
      20_000,
    );
    expect(readFileSync(join(folder, 'log'), 'utf8')).toMatch(/"msg":"kept".*"msg":"alert"/s);
  } finally {
    closeSync(output);
  }
});

test('an alert that the level hides does not wait for the output', async () => {
  expect(await send(createLog('error'))).toEqual({ outcome: 'delivered', response: 'written' });
});

test('the end of a process does not wait for an output that cannot be written', async () => {
  const output = openUnwritable();
  try {
    const log = createLog('info', output);
    for (let line = 0; line < 100; line += 1) log.info({ line }, 'lost');
    await send(log);
    // What pino calls when the process exits.
    expect(
      (Reflect.get(log, pino.symbols.streamSym) as { flushSync(): void }).flushSync(),
    ).toBeUndefined();
  } finally {
    closeSync(output);
  }
});

test('a line does nothing to the terminal that shows it, and its texts stay what they were', () => {
  const text = '\u001b[31m \u009b31m \u202e12.30 \u2066 \u{e0001} \n \u2028 ü 🎉';
  const lines: string[] = [];
  const log = createLog('info', (line) => lines.push(line));
  log.info({ text, error: new Error(text) }, text);
  const [line = ''] = lines;
  expect(line.endsWith('\n')).toBe(true);
  expect(line.trimEnd()).not.toMatch(/\p{C}/u);
  expect(JSON.parse(line)).toMatchObject({ text, error: { message: text }, msg: text });
});
