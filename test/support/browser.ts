/** A headless Chromium, controlled through the DevTools protocol over a pipe. */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { waitFor } from './waitFor.ts';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];

/** The command of an installed Chromium; undefined if there is none. */
export const browserCommand = NAMES.find((name) => spawnSync(name, ['--version']).status === 0);

export interface Browser {
  open(url: string): Promise<void>;
  /** Fills in the named fields and clicks the button labeled `button`. */
  submit(values: Readonly<Record<string, string>>, button: string): Promise<void>;
  /** Waits until the page shows the text. */
  see(text: string): Promise<void>;
  close(): Promise<void>;
}

interface DevToolsMessage {
  readonly id?: number;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly message: string };
}

export async function startBrowser(command: string): Promise<Browser> {
  const profile = mkdtempSync(join(tmpdir(), 'tallyhook-browser-'));
  const options = ['--headless=new', '--no-sandbox', '--disable-gpu', '--remote-debugging-pipe'];
  const child = spawn(command, [...options, `--user-data-dir=${profile}`], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => resolve());
  });
  const call = createCaller(child.stdio[3] as Writable, child.stdio[4] as Readable);
  const { targetId } = await call('Target.createTarget', { url: 'about:blank' });
  const { sessionId } = await call('Target.attachToTarget', { targetId, flatten: true });
  const page = (method: string, params: object) => call(method, params, String(sessionId));
  /** Undefined while the browser navigates to another page. */
  const evaluate = async (expression: string): Promise<unknown> => {
    const { result } = await page('Runtime.evaluate', { expression, returnByValue: true });
    return (result as { value?: unknown } | undefined)?.value;
  };
  return {
    open: async (url) => {
      await page('Page.navigate', { url });
    },
    submit: async (values, button) => {
      const script = `(() => {
        const values = ${JSON.stringify(values)};
        for (const [name, value] of Object.entries(values)) {
          document.querySelector('[name="' + name + '"]').value = value;
        }
        const buttons = [...document.querySelectorAll('button')];
        const pressed = buttons.find(({ textContent }) => textContent === ${JSON.stringify(button)});
        pressed.click();
        return true;
      })()`;
      await waitFor(`a button ${button}`, async () => (await evaluate(script)) === true);
    },
    see: (text) =>
      waitFor(`the page to show ${text}`, async () =>
        String(await evaluate('document.body?.innerText')).includes(text),
      ),
    close: async () => {
      // Closed by command, not killed: orphaned child processes would keep writing to the profile.
      await call('Browser.close', {});
      await ended;
      rmSync(profile, { recursive: true, force: true, maxRetries: 20 });
    },
  };
}

type Call = (
  method: string,
  params: object,
  sessionId?: string,
) => Promise<Readonly<Record<string, unknown>>>;

/** Messages are JSON, each terminated by NUL. */
function createCaller(input: Writable, output: Readable): Call {
  const waiting = new Map<number, (message: DevToolsMessage) => void>();
  let last = 0;
  let rest = '';
  output.setEncoding('utf8').on('data', (chunk: string) => {
    const messages = (rest + chunk).split('\0');
    rest = messages.pop() ?? '';
    for (const text of messages) {
      const message = JSON.parse(text) as DevToolsMessage;
      if (message.id === undefined) continue;
      waiting.get(message.id)?.(message);
      waiting.delete(message.id);
    }
  });
  return (method, params, sessionId) =>
    new Promise((resolve, reject) => {
      last += 1;
      waiting.set(last, ({ result, error }) => {
        if (error) reject(new Error(`${method}: ${error.message}`));
        else resolve(result ?? {});
      });
      input.write(`${JSON.stringify({ id: last, method, params, sessionId })}\0`);
    });
}
