/**
 * Messages by mail, as plain text through SMTP.
 *
 * 1. The connection is encrypted before a password or a message goes over it, except to this machine.
 * 2. `Message-ID` is made from the message's id, so that a mail program can tell one that comes twice.
 * 3. A mail that one of its addressees was refused for counts as delivered: to send it again would
 *    give it twice to the others. The answer says how many were refused.
 */
import { createTransport } from 'nodemailer';
import type { SmtpServer } from '../../config/alertSettings.ts';
import type { Attempted } from '../domain/retry.ts';
import { textOf } from '../domain/text.ts';
import type { Channel } from './channel.ts';

export interface MailOptions {
  readonly smtp: SmtpServer;
  readonly from: string;
  readonly to: readonly string[];
  readonly timeoutMs: number;
}

export function createMailChannel({ smtp, from, to, timeoutMs }: MailOptions): Channel {
  const domain = from.slice(from.lastIndexOf('@') + 1);
  const newTransport = () =>
    createTransport({
      host: smtp.host,
      port: smtp.port,
      secure: smtp.isTls,
      requireTLS: !smtp.isTls && !smtp.isLoopback,
      ignoreTLS: smtp.isLoopback,
      ...(smtp.user !== '' && { auth: { user: smtp.user, pass: smtp.password } }),
      connectionTimeout: timeoutMs,
      greetingTimeout: timeoutMs,
      socketTimeout: timeoutMs,
      dnsTimeout: timeoutMs,
      disableFileAccess: true,
      disableUrlAccess: true,
    });
  return {
    name: 'mail',
    slots: 1,
    send: async ({ id, content, createdAt }) => {
      const { title, lines } = textOf(content);
      const transport = newTransport();
      const sending = transport.sendMail({
        from,
        to: [...to],
        subject: title,
        text: `${lines.join('\n')}\n`,
        date: createdAt,
        messageId: `<${id}@${domain}>`,
        headers: { 'Auto-Submitted': 'auto-generated' },
      });
      return await withinTime(sending.then(answerOf, failureOf), timeoutMs, () =>
        transport.close(),
      );
    },
  };
}

/** The library's limits are for each step; a server may be slow at every one of them. */
function withinTime(
  sending: Promise<Attempted>,
  timeoutMs: number,
  stop: () => void,
): Promise<Attempted> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      stop();
      resolve({ outcome: 'away', answer: `no answer within ${timeoutMs / 1000} s` });
    }, timeoutMs);
    void sending.then((attempted) => {
      clearTimeout(timer);
      resolve(attempted);
    });
  });
}

interface Sent {
  readonly accepted: readonly unknown[];
  readonly rejected?: readonly unknown[] | undefined;
}

/** Rule 3. */
function answerOf({ accepted, rejected = [] }: Sent): Attempted {
  const refused = rejected.length > 0 ? `, refused for ${rejected.length}` : '';
  return { outcome: 'delivered', answer: `accepted for ${accepted.length}${refused}` };
}

/** Of the server's answer the code, never its words: they may repeat addresses or who logged in. */
function failureOf(error: unknown): Attempted {
  const { code, responseCode } = error as {
    readonly code?: unknown;
    readonly responseCode?: unknown;
  };
  const name = typeof code === 'string' ? code : 'no connection';
  const answer = typeof responseCode === 'number' ? `SMTP ${responseCode} (${name})` : name;
  const isRefused = typeof responseCode === 'number' && responseCode >= 500 && code !== 'EAUTH';
  return { outcome: isRefused ? 'refused' : 'away', answer };
}
