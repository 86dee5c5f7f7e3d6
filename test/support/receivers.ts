/** Webhook and mail servers as operators and shops run them, which can fail, be slow or be offline. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { SMTPServer, type SMTPServerEnvelope } from 'smtp-server';
import { Webhook } from 'standardwebhooks';

/** For tests only; its key is `test-secret-of-24-bytes!`. */
export const SIGNING_SECRET = `whsec_${Buffer.from('test-secret-of-24-bytes!').toString('base64')}`;

/** What a receiver does with a request. */
export type Behavior =
  | { readonly does: 'accept' }
  | { readonly does: 'respond'; readonly status: number; readonly headers?: Record<string, string> }
  /** Reads the request and never responds. */
  | { readonly does: 'never_respond' }
  /** Reads the request and closes the connection: the sender cannot know whether it arrived. */
  | { readonly does: 'read_and_disconnect' };

export const ACCEPT: Behavior = { does: 'accept' };

export interface ReceivedPost {
  readonly id: string;
  /** `type` of the JSON body. */
  readonly type: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly outcome: Behavior['does'];
}

export interface HttpReceiver {
  readonly url: string;
  /** Every request in order of arrival, including those that were not accepted. */
  readonly posts: readonly ReceivedPost[];
  /** The requests that got status 200. */
  accepted(): readonly ReceivedPost[];
  behave(behavior: Behavior | ((post: ReceivedPost) => Behavior)): void;
  /** Closes the port, so that connections are refused. */
  stop(): Promise<void>;
  /** Opens the same port again. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

/**
 * A receiver of Standard Webhooks, which verifies with the library and responds 401 if that fails.
 * Without a secret it accepts everything, as a chat service does.
 */
export async function startHttpReceiver(secret?: string): Promise<HttpReceiver> {
  const posts: ReceivedPost[] = [];
  let behavior: Behavior | ((post: ReceivedPost) => Behavior) = ACCEPT;
  const sockets = new Set<Socket>();

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await text(request);
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
    );
    if (secret !== undefined && !verifies(secret, body, headers)) {
      response.writeHead(401).end();
      return;
    }
    const { type = '' } = JSON.parse(body) as { readonly type?: string };
    const post = { id: headers['webhook-id'] ?? '', type, body, headers };
    const act =
      typeof behavior === 'function' ? behavior({ ...post, outcome: 'accept' }) : behavior;
    posts.push({ ...post, outcome: act.does });
    switch (act.does) {
      case 'accept':
        response.writeHead(200).end('ok');
        return;
      case 'respond':
        response.writeHead(act.status, act.headers).end();
        return;
      case 'read_and_disconnect':
        request.socket.destroy();
        return;
      case 'never_respond':
        return;
    }
  };
  const server = createServer((request, response) => void handle(request, response));
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const stop = async (): Promise<void> => {
    if (!server.listening) return;
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, 'close');
  };
  return {
    url: `http://127.0.0.1:${port}/hook`,
    posts,
    accepted: () => posts.filter(({ outcome }) => outcome === 'accept'),
    behave: (next) => {
      behavior = next;
    },
    stop,
    restart: async () => {
      server.listen(port, '127.0.0.1');
      await once(server, 'listening');
    },
    close: stop,
  };
}

function verifies(secret: string, body: string, headers: Record<string, string>): boolean {
  try {
    new Webhook(secret).verify(body, headers);
    return true;
  } catch {
    return false;
  }
}

export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  /** Headers and body as received. */
  readonly raw: string;
  readonly messageId: string;
}

type MailBehavior = 'accept' | 'tempfail' | 'reject' | 'never_respond';

const MAIL_REPLIES = {
  accept: null,
  tempfail: Object.assign(new Error('not now'), { responseCode: 451 }),
  reject: Object.assign(new Error('not this'), { responseCode: 554 }),
} as const;

function mailOf({ mailFrom, rcptTo }: SMTPServerEnvelope, raw: string): ReceivedMail {
  return {
    from: mailFrom === false ? '' : mailFrom.address,
    to: rcptTo.map(({ address }) => address),
    raw,
    messageId: /^Message-ID: (.*)$/im.exec(raw)?.[1]?.trim() ?? '',
  };
}

export interface MailServer {
  readonly url: string;
  /** Mails that were accepted. */
  readonly mails: readonly ReceivedMail[];
  /** Number of attempts to deliver a mail. */
  attempts(): number;
  /** `tempfail`, `reject`: replies to the message; `never_respond`: no reply. */
  behave(behavior: MailBehavior): void;
  stop(): Promise<void>;
  restart(): Promise<void>;
  close(): Promise<void>;
}

const SMTP_USER = 'alerts';
export const SMTP_PASSWORD = 'smtp-password-of-tests';

/** A mail server that requires a login. */
export async function startMailServer(): Promise<MailServer> {
  const mails: ReceivedMail[] = [];
  let behavior: MailBehavior = 'accept';
  let attempts = 0;
  const open = async (port: number): Promise<SMTPServer> => {
    const server = new SMTPServer({
      disabledCommands: ['STARTTLS'],
      onAuth: ({ username, password }, _session, done) => {
        const isValid = username === SMTP_USER && password === SMTP_PASSWORD;
        if (isValid) done(null, { user: username });
        else done(new Error('wrong'));
      },
      onData: (stream, { envelope }, done) => {
        void text(stream).then((raw) => {
          attempts += 1;
          if (behavior === 'accept') mails.push(mailOf(envelope, raw));
          if (behavior !== 'never_respond') done(MAIL_REPLIES[behavior]);
        });
      },
    });
    // A client that disconnects is not a failure of the server.
    server.on('error', () => undefined);
    server.listen(port, '127.0.0.1');
    await once(server.server, 'listening');
    return server;
  };
  let server: SMTPServer | undefined = await open(0);
  const { port } = server.server.address() as AddressInfo;
  const stop = async (): Promise<void> => {
    const stopping = server;
    server = undefined;
    if (stopping) await new Promise<void>((resolve) => stopping.close(() => resolve()));
  };
  return {
    url: `smtp://${SMTP_USER}:${SMTP_PASSWORD}@127.0.0.1:${port}`,
    mails,
    attempts: () => attempts,
    behave: (next) => {
      behavior = next;
    },
    stop,
    restart: async () => {
      server = await open(port);
    },
    close: stop,
  };
}
