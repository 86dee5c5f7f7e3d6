/**
 * Sends messages by mail, as plain text over SMTP.
 *
 * 1. The connection is encrypted before a password or a message is sent, except to this machine.
 * 2. `Message-ID` contains the message's id, so that a mail program recognizes a duplicate.
 * 3. A mail that is refused for some of its recipients counts as delivered: another attempt would send
 *    a duplicate to the others. The response has the number of refused recipients.
 */
import type { SmtpServer } from '../../config/alertSettings.ts';
import type { Installation } from '../domain/links.ts';
import type { AttemptResult } from '../domain/retry.ts';
import { linkLine, subjectLine, textOf } from '../domain/text.ts';
import type { Channel } from './channel.ts';

export interface MailOptions {
  readonly smtp: SmtpServer;
  readonly from: string;
  readonly to: readonly string[];
  readonly installation: Installation;
  readonly timeoutMs: number;
}

export function createMailChannel(options: MailOptions): Channel {
  const { smtp, from, to, installation, timeoutMs } = options;
  const domain = from.slice(from.lastIndexOf('@') + 1);
  const newTransport = async () => {
    // Loaded with the first mail: most processes send none.
    const { createTransport } = await import('nodemailer');
    return createTransport({
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
  };
  return {
    name: 'mail',
    slots: 1,
    send: async ({ id, content, createdAt }) => {
      const text = textOf(content, installation);
      const links = text.links.map(linkLine);
      const transport = await newTransport();
      const sending = transport.sendMail({
        from,
        to: [...to],
        subject: subjectLine(text),
        text: `${[...text.lines, ...links].join('\n')}\n`,
        date: createdAt,
        messageId: `<${id}@${domain}>`,
        headers: { 'Auto-Submitted': 'auto-generated' },
      });
      return await withTimeLimit(sending.then(resultOf, failureOf), timeoutMs, () =>
        transport.close(),
      );
    },
  };
}

/** The limits of the library apply to each step; a server may be slow in every one of them. */
function withTimeLimit(
  sending: Promise<AttemptResult>,
  timeoutMs: number,
  stop: () => void,
): Promise<AttemptResult> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      stop();
      resolve({ outcome: 'unavailable', response: `no response within ${timeoutMs / 1000} s` });
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
function resultOf({ accepted, rejected = [] }: Sent): AttemptResult {
  const refused = rejected.length > 0 ? `, refused for ${rejected.length}` : '';
  return { outcome: 'delivered', response: `accepted for ${accepted.length}${refused}` };
}

/** The code of the server's response without its text, which may repeat addresses or user names. */
function failureOf(error: unknown): AttemptResult {
  const { code, responseCode } = error as {
    readonly code?: unknown;
    readonly responseCode?: unknown;
  };
  const name = typeof code === 'string' ? code : 'no connection';
  const response = typeof responseCode === 'number' ? `SMTP ${responseCode} (${name})` : name;
  const isRefused = typeof responseCode === 'number' && responseCode >= 500 && code !== 'EAUTH';
  return { outcome: isRefused ? 'refused' : 'unavailable', response };
}
