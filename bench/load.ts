/**
 * The load, a process of its own: builds and signs events ahead of time, then sends them. It
 * follows the messages on its channel (loadProtocol.ts) and ends with the bench.
 */
import { BUSY_SHOP } from './changes.ts';
import { createEventStream, type EventStream, type Requests } from './events.ts';
import type { FromLoad, ToLoad } from './loadProtocol.ts';
import { PEERS } from './peers/peers.ts';
import { sendRequests } from './sending.ts';

let stream: EventStream | undefined;
let requests: Requests | undefined;
/** The next of `requests` to send. */
let cursor = 0;

function send(message: FromLoad): void {
  process.send?.(message);
}

async function handle(message: ToLoad): Promise<void> {
  switch (message.type) {
    case 'stream':
      stream = openStream(message);
      send({ type: 'done' });
      return;
    case 'prepare':
      if (!stream) throw new Error('prepare comes after stream');
      requests = stream.next(message.count);
      cursor = 0;
      send({ type: 'done' });
      return;
    case 'vary':
      if (!stream || !requests) throw new Error('vary comes after prepare');
      requests = stream.vary();
      cursor = 0;
      send({ type: 'done' });
      return;
    case 'run': {
      if (!requests) throw new Error('run comes after prepare');
      const { request } = message;
      const from = request.repeat ? 0 : cursor;
      const { next, result } = await sendRequests({ request, requests, from, report: send });
      if (!request.repeat) cursor = next;
      send({ type: 'result', result });
    }
  }
}

function openStream(message: ToLoad & { readonly type: 'stream' }): EventStream {
  const { seed, secret, peer, isOneOrder } = message;
  if (peer === undefined) return createEventStream(seed, secret, { ...BUSY_SHOP, isOneOrder });
  const format = PEERS.find(({ name }) => name === peer)?.format;
  if (!format) throw new Error(`no peer is called ${peer}`);
  return createEventStream(seed, secret, undefined, format);
}

function quit(error: unknown): never {
  console.error('load:', error);
  process.exit(1);
}

process.on('message', (message) => void handle(message as ToLoad).catch(quit));
process.on('disconnect', () => process.exit(0));
// Ctrl-C reaches the whole group; the bench decides when this process ends.
process.on('SIGINT', () => undefined);
send({ type: 'done' });
