import { Command } from 'commander';
import type { Config } from '../../config/config.ts';
import { SIGNATURE_HEADER } from '../../contract/signature.ts';
import { toError, UnavailableError } from '../../platform/errors.ts';
import { localUrl } from '../../platform/httpServer.ts';
import { signBody } from '../../receiver/sign.ts';
import { printJson, readConfig, readInput } from '../context.ts';
import { endAs, printText } from '../invocation.ts';
import { jsonOption, secretOption } from '../options.ts';
import { firstSecret } from './sign.ts';

interface SendOptions {
  readonly secret?: string;
  readonly url?: string;
  readonly json: boolean;
}

const TIMEOUT_MS = 30_000;

export function sendCommand(): Command {
  return new Command('send')
    .argument('<file>', 'file with the event body, or - for standard input')
    .option('--url <url>', 'address to deliver to (default: the receiver on this machine)')
    .addOption(secretOption())
    .addOption(jsonOption())
    .addHelpText('after', '\nExit code: 0 accepted (2xx), 4 refused, 5 unreachable.')
    .action(async (file: string, options: SendOptions) => {
      const url = options.url ?? receiverUrl(readConfig());
      const body = await readInput(file);
      const { status, text } = await deliver(url, body, options.secret ?? firstSecret());
      if (options.json) printJson({ url, status, reply: parseReply(text) });
      else printText(`${status} ${text}`);
      if (status < 200 || status > 299) endAs('refused');
    });
}

function receiverUrl({ host, port, webhookPath }: Config): string {
  return `${localUrl(host, port)}${webhookPath}`;
}

async function deliver(
  url: string,
  body: Buffer,
  secret: string,
): Promise<{ readonly status: number; readonly text: string }> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        [SIGNATURE_HEADER]: signBody(body, secret).toString('hex'),
      },
      body: new Uint8Array(body),
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    return { status: response.status, text: await response.text() };
  } catch (error) {
    const { message, cause } = toError(error);
    const why = cause instanceof Error && cause.message !== '' ? cause.message : message;
    throw new UnavailableError(
      `Nothing was delivered to ${url}: ${why}. Is the receiver running? \`npm start\` starts it; use --url for another address.`,
    );
  }
}

function parseReply(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
