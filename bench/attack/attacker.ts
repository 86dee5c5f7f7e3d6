/**
 * The attacker, a process of its own. It uses eight addresses of the loopback network on Linux, among
 * them the one of the good senders. It is bounded in count and time, and ends with the bench.
 */
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { SIGNATURE_HEADER } from '../../src/contract/signature.ts';
import { WEBHOOK_PATH } from '../events.ts';
import type { AttackRequest, AttackResult } from './protocol.ts';

const ADDRESSES = 8;
const REOPEN_AFTER_MS = 1_000;
/** Connections opened per connection that is to be held. */
const MAX_OPENED_FACTOR = 20;
/** How long an attacker that reconnects waits for a response. */
const IMPATIENCE_MS = 300;

const HEAD = `POST ${WEBHOOK_PATH} HTTP/1.1\r\nHost: 127.0.0.1\r\n${SIGNATURE_HEADER}: ${'a'.repeat(128)}\r\n`;
const CHEAP = Buffer.from('GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
const ENDLESS = Buffer.concat([
  Buffer.from(`${HEAD}Transfer-Encoding: chunked\r\n\r\n${(1_048_000).toString(16)}\r\n`),
  Buffer.alloc(1_048_000, 'x'),
  Buffer.from('\r\n'),
]);
const FORGED_BODY = 'x'.repeat(660);
const FORGED = Buffer.from(`${HEAD}Content-Length: ${FORGED_BODY.length}\r\n\r\n${FORGED_BODY}`);

async function run(request: AttackRequest): Promise<AttackResult> {
  const result = { opened: 0, sent: 0, responses: 0 };
  const sockets = new Set<Socket>();
  let isOver = false;

  const dial = (onOpen: (socket: Socket) => void, onClosed: () => void): void => {
    const localAddress = `127.0.0.${1 + (result.opened % ADDRESSES)}`;
    result.opened += 1;
    const spread = process.platform === 'linux' ? { localAddress } : {};
    const socket = connect({ port: request.port, host: '127.0.0.1', ...spread });
    sockets.add(socket);
    socket.on('connect', () => onOpen(socket));
    socket.on('data', () => {
      result.responses += 1;
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      sockets.delete(socket);
      if (!isOver) onClosed();
    });
  };
  const hold = (bytes: Buffer | undefined): void => {
    const reopen = (): void => {
      if (!request.isReopening || result.opened >= MAX_OPENED_FACTOR * request.connections) return;
      setTimeout(() => isOver || hold(bytes), REOPEN_AFTER_MS);
    };
    dial((socket) => {
      if (!bytes) return;
      result.sent += 1;
      socket.write(bytes);
    }, reopen);
  };
  const forge = (socket: Socket): void => {
    if (result.sent >= request.requests) return;
    result.sent += 1;
    socket.write(FORGED);
  };
  const forgeOnReply = (): void => {
    dial(
      (socket) => {
        forge(socket);
        socket.on('data', () => forge(socket));
      },
      () => setTimeout(() => isOver || forgeOnReply(), REOPEN_AFTER_MS),
    );
  };
  const forgeOnNew = (): void => {
    dial(
      (socket) => {
        forge(socket);
        socket.setTimeout(IMPATIENCE_MS, () => socket.destroy());
        socket.on('data', () => socket.destroy());
      },
      () => undefined,
    );
  };

  let pacer: NodeJS.Timeout | undefined;
  if (request.attack === 'forged_reconnecting') {
    const startMs = performance.now();
    pacer = setInterval(() => {
      const share = (performance.now() - startMs) / (request.seconds * 1_000);
      while (result.opened < Math.min(1, share) * request.requests) forgeOnNew();
    }, 5);
  } else {
    for (let n = 0; n < request.connections; n += 1) {
      if (request.attack === 'forged') forgeOnReply();
      else hold({ silent: undefined, cheap: CHEAP, endless: ENDLESS }[request.attack]);
    }
  }
  await sleep(request.seconds * 1_000);
  isOver = true;
  clearInterval(pacer);
  for (const socket of sockets) socket.destroy();
  return result;
}

process.on('message', (message) => {
  void run(message as AttackRequest).then((result) => process.send?.(result));
});
process.on('disconnect', () => process.exit(0));
// Ctrl-C reaches the whole group; the bench decides when this process ends.
process.on('SIGINT', () => undefined);
