/** Settings, secrets, the queue, the database, the client and the command line. */
import type { Mistake } from '../mistake.ts';

export const PLATFORM: readonly Mistake[] = [
  {
    guarantee: 'A reset in a year is ignored.',
    file: 'src/client/domain/rate.ts',
    code: 'waitMs > 0 && waitMs <= MAX_WINDOW_MS',
    mistaken: 'waitMs > 0',
    test: 'test/unit/client/rate.test.ts',
  },
  {
    guarantee: 'No part of the key is quoted where a text is cut.',
    file: 'src/client/redact.ts',
    code: 'redactAccount(text.replaceAll(apiKey, KEY), body)',
    mistaken: 'redactAccount(text.slice(0, MAX_QUOTE_LENGTH).replaceAll(apiKey, KEY), body)',
    test: 'test/unit/client/redact.test.ts',
  },
  {
    guarantee: 'A quoted text has no control characters.',
    file: 'src/client/redact.ts',
    code: ".replaceAll(/\\p{C}/gu, ' ')",
    mistaken: '',
    test: 'test/unit/client/redact.test.ts',
  },
  {
    guarantee: 'A secret does not end with white space.',
    file: 'src/config/config.ts',
    code: 'value === value.trim(), {',
    mistaken: 'value === value.trimStart(), {',
    test: 'test/unit/platform/config.test.ts',
  },
  {
    guarantee: 'An empty API key is an error, not a setting that is not set.',
    file: 'src/config/config.ts',
    code: "  'PAYMENTS_MERCHANT_ID',\n  'PAYMENTS_API_KEY',\n",
    mistaken: "  'PAYMENTS_MERCHANT_ID',\n",
    test: 'test/unit/platform/config.test.ts',
  },
  {
    guarantee: 'A policy names an hour at which authorizations are checked.',
    file: 'src/config/config.ts',
    code: 'thresholds.includes(chosen.hours)',
    mistaken: 'thresholds.length > 0',
    test: 'test/unit/platform/config.test.ts',
  },
  {
    guarantee: 'A secret appears complete or not at all, and once for all processes.',
    file: 'src/config/localSecrets.ts',
    code: '    linkSync(draft, path);',
    mistaken: '    writeFileSync(path, content, { mode: 0o600 });',
    test: 'test/unit/platform/localSecrets.isolated.test.ts',
  },
  {
    guarantee: 'A secret that others could read becomes readable by its owner only.',
    file: 'src/config/localSecrets.ts',
    code: '  chmodSync(path, 0o600);\n',
    mistaken: '',
    test: 'test/unit/platform/localSecrets.isolated.test.ts',
  },
  {
    guarantee: 'The last slot can be the very instant.',
    file: 'src/scheduler/domain/slots.ts',
    code: 'minuteMs + candidate * SECOND_MS <= mostMs',
    mistaken: 'minuteMs + candidate * SECOND_MS < mostMs',
    test: 'test/unit/scheduler/slots.test.ts',
  },
  {
    guarantee: 'Of a secret in a file, only one line break at the end is not part of it.',
    file: 'src/config/secretFiles.ts',
    code: "readFileSync(path, 'utf8').replace(/\\r?\\n$/, '')",
    mistaken: "readFileSync(path, 'utf8').trimEnd()",
    test: 'test/unit/platform/secretFiles.test.ts',
  },
  {
    guarantee: 'The address of a client is the last one before the trusted proxies.',
    file: 'src/platform/clientAddress.ts',
    code: "String(forwarded).split(',').reverse()",
    mistaken: "String(forwarded).split(',')",
    test: 'test/unit/platform/clientAddress.test.ts',
  },
];
