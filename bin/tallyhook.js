#!/usr/bin/env node
import { existsSync } from 'node:fs';

const main = new URL('../dist/program/main.js', import.meta.url);
if (!existsSync(main)) {
  console.error(
    'tallyhook is not built: dist/program/ is missing (npm ci ran without scripts?). Run: npm run build',
  );
  process.exit(1);
}
await import(main.href);
