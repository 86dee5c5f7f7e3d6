/** What a browser is started with. */
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { openInBrowser } from '../../../src/cli/browser.ts';
import { noteFileNames } from '../../../src/config/settingsInForce.ts';
import { waitFor } from '../../support/waitFor.ts';

test.runIf(process.platform === 'linux')(
  'a browser gets no setting, and nothing of `.env`',
  async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'tallyhook-browser-'));
    try {
      const opener = path.join(folder, 'xdg-open');
      const output = path.join(folder, 'environment');
      writeFileSync(
        opener,
        `#!/bin/sh\nenv >${output}.partial && mv ${output}.partial ${output}\n`,
      );
      chmodSync(opener, 0o755);
      const secrets = {
        ADMIN_TOKEN: 'secret-1',
        DATABASE_URL: 'postgres://me:secret-2@db/tallyhook',
        TALLYHOOK_TOKEN: 'secret-3',
        WEBHOOK_SECRETS: 'secret-4',
        OWNER_PASSWORD: 'secret-5',
      };
      noteFileNames(['OWNER_PASSWORD']);
      const PATH = `${folder}:${process.env.PATH}`;
      const env = { ...secrets, DISPLAY: ':7', PATH, XAUTHORITY: '/home/me/.Xauthority' };
      expect(await openInBrowser('http://127.0.0.1:8081/', env)).toBe(true);
      const read = () => {
        try {
          return readFileSync(output, 'utf8');
        } catch {
          return undefined;
        }
      };
      await waitFor('the browser to write its environment', () => read() !== undefined);
      expect(read()).toMatch(/^DISPLAY=:7$/m);
      expect(read()).toMatch(/^XAUTHORITY=/m);
      expect(read()).not.toContain('secret-');
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
);
