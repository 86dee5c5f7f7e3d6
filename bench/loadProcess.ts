/** The bench's side of the load process. */
import type { Cleanup } from './cleanup.ts';
import type { FromLoad, RunRequest, RunResult, ToLoad } from './loadProtocol.ts';
import { compiled, type Started, startModule } from './processes.ts';

export interface RunWatcher {
  /** The counted time begins. */
  onCounting?(): void;
  /** An event was acknowledged. */
  onSample?(eventId: string, atMs: number): void;
}

export interface Load {
  readonly process: Started;
  /** Begins a new stream of events, for the peer of that name if there is one. */
  openStream(seed: number, peer?: string): Promise<void>;
  /** Begins a new stream of events, all about payments of one order. */
  openStreamOfOneOrder(seed: number): Promise<void>;
  /** Builds and signs the next events of the stream; those prepared before and not sent are dropped. */
  prepare(count: number): Promise<void>;
  /** Prepares the same event ids again, with other bodies than before. */
  vary(): Promise<void>;
  run(
    request: Partial<RunRequest> & Pick<RunRequest, 'port' | 'seconds'>,
    watcher?: RunWatcher,
  ): Promise<RunResult>;
}

/** Most events prepared at once: half a gigabyte. */
const MAX_PREPARED = 500_000;

export async function startLoad(options: {
  readonly secret: string;
  readonly cwd: string;
  readonly cleanup: Cleanup;
}): Promise<Load> {
  let listen: (message: FromLoad) => void = () => undefined;
  let fail: (error: Error) => void = () => undefined;
  const { started, send } = startModule(
    { ...options, name: 'load', file: compiled('bench/load.js'), env: {} },
    (message) => listen(message as FromLoad),
    () => fail(new Error('the load process ended')),
  );
  /** Sends a message, if there is one, and waits for the reply of that type. */
  const exchange = <T extends FromLoad['type']>(
    message: ToLoad | undefined,
    replyType: T,
    onOther: (message: FromLoad) => void = () => undefined,
  ) =>
    new Promise<FromLoad & { readonly type: T }>((resolve, reject) => {
      fail = reject;
      listen = (received) => {
        if (received.type === replyType) resolve(received as FromLoad & { readonly type: T });
        else onOther(received);
      };
      if (message) send(message);
    });

  await exchange(undefined, 'done');
  const { secret } = options;
  return {
    process: started,
    openStream: async (seed, peer) => {
      await exchange({ type: 'stream', seed, secret, peer, isOneOrder: false }, 'done');
    },
    openStreamOfOneOrder: async (seed) => {
      const message = { type: 'stream', seed, secret, peer: undefined, isOneOrder: true } as const;
      await exchange(message, 'done');
    },
    vary: async () => {
      await exchange({ type: 'vary' }, 'done');
    },
    prepare: async (count) => {
      const bounded = Math.min(Math.ceil(count), MAX_PREPARED);
      await exchange({ type: 'prepare', count: bounded }, 'done');
    },
    run: async (request, watcher = {}) => {
      const whole: RunRequest = {
        warmUpSeconds: 0,
        ratePerSecond: undefined,
        connections: 64,
        repeat: false,
        sampleEvery: 0,
        ...request,
      };
      const { result } = await exchange({ type: 'run', request: whole }, 'result', (message) => {
        if (message.type === 'counting') watcher.onCounting?.();
        if (message.type === 'sample') watcher.onSample?.(message.eventId, message.atMs);
      });
      return result;
    },
  };
}
