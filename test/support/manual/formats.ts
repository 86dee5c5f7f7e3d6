/** Checks of blocks that are no commands: each returns what is wrong, or undefined. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseDocument } from 'yaml';
import type { Block } from '../../../scripts/manual/blocks.ts';
import { exampleOf } from '../../../scripts/reference/webhookExamples.ts';
import { SETTINGS } from '../../../src/config/config.ts';
import { packageRoot } from '../../../src/platform/packageRoot.ts';
import { WEBHOOKS, type WebhookType } from '../../../src/webhooks/webhooks.ts';

type Wrong = string | undefined;

const root = packageRoot();
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

/** In a value, where the reader puts their own. */
const ELLIPSIS = '…';

export function wrongSettings({ code }: Block): Wrong {
  for (const line of code.split('\n')) {
    const [, name = '', value = ''] = /^([A-Z0-9_]+)=(.*)$/.exec(line) ?? [];
    const schema = Object.entries(SETTINGS.shape).find(([known]) => known === name)?.[1];
    if (schema === undefined) return `${line} is no setting`;
    const result = schema.safeParse(value);
    if (!value.includes(ELLIPSIS) && !result.success) return `${line}: ${result.error.message}`;
  }
  return undefined;
}

export function wrongFormat({ language, code }: Block): Wrong {
  switch (language) {
    case 'json':
      return wrongJson(code);
    case 'yaml':
      return parseDocument(code).errors[0]?.message;
    case 'ini':
      return code.split('\n').find((line) => !/^(\[\w+\]|\w+ = .+)$/.test(line));
    case 'nginx':
      return wrongNginx(code);
    default:
      return `no parser reads ${language}`;
  }
}

function wrongJson(code: string): Wrong {
  try {
    JSON.parse(code);
    return undefined;
  } catch (error) {
    return String(error);
  }
}

/** Directives end with `;` or have a block; blocks are closed. */
function wrongNginx(code: string): Wrong {
  const left = code
    .replaceAll(/"[^"]*"/g, 'text')
    .replaceAll(/[\w$][^;{}]*;/g, '')
    .replaceAll(/\s+/g, '');
  let rest = left.replaceAll(/[\w=/]+\{/g, '{');
  while (rest.includes('{}')) rest = rest.replaceAll('{}', '');
  return rest === '' ? undefined : `left over: ${rest}`;
}

/** A part of a file, or of the example of a webhook (`of=webhook:order.paid`). */
export function wrongPart(block: Block): Wrong {
  const whole = block.attributes.of ?? '';
  const type = whole.replace(/^webhook:/, '');
  if (whole !== type) {
    if (!isWebhookType(type)) return `${type} is no webhook`;
    return unknownKey(JSON.parse(block.code), exampleOf(type));
  }
  if (!existsSync(join(root, whole))) return `${whole} does not exist`;
  if (block.language === 'yaml') {
    return unknownKey(parseDocument(block.code).toJS(), parseDocument(read(whole)).toJS());
  }
  const lines = new Set(read(whole).split('\n').map(trimmed));
  return block.code
    .split('\n')
    .map(trimmed)
    .find((line) => line !== ELLIPSIS && !lines.has(line));
}

const isWebhookType = (type: string): type is WebhookType => type in WEBHOOKS;
const trimmed = (line: string): string => line.trim().replaceAll(/\s+/g, ' ');

/** An object without keys in the whole accepts any. */
function unknownKey(part: unknown, whole: unknown, path = ''): Wrong {
  if (Array.isArray(part) && Array.isArray(whole)) {
    return part.map((one) => unknownKey(one, whole[0], `${path}[]`)).find(Boolean);
  }
  if (!isObject(part) || !isObject(whole)) return undefined;
  if (Object.keys(whole).length === 0) return undefined;
  for (const [key, value] of Object.entries(part)) {
    if (!(key in whole)) return `${path}.${key} is not there`;
    const wrong = unknownKey(value, whole[key], `${path}.${key}`);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

/** The test or script of a block exists, and names its page. */
export function wrongProgram(block: Block): Wrong {
  const { page, attributes } = block;
  const { by = '' } = attributes;
  if (!existsSync(join(root, by))) return `${by} does not exist`;
  if (!read(by).includes(basename(page))) return `${by} does not name ${basename(page)}`;
  return wrongSyntax(block);
}

export function wrongReason(block: Block): Wrong {
  if ((block.attributes.cannot ?? '').length < 10) return 'state why it cannot run';
  return wrongSyntax(block);
}

function wrongSyntax({ language, code }: Block): Wrong {
  if (language !== 'sh') return undefined;
  const { status, stderr } = spawnSync('bash', ['-n'], { input: code, encoding: 'utf8' });
  return status === 0 ? undefined : stderr;
}

/**
 * The first line of a sample that the output does not have: numbers, times, amounts and ids may differ, and
 * so may what the sample leaves out by an ellipsis.
 */
export function missingLine(sample: string, output: string): Wrong {
  const lines = output.split('\n');
  let from = 0;
  for (const line of sample.split('\n').filter((one) => one.trim() !== '' && one !== ELLIPSIS)) {
    const shape = shapeOf(line);
    const found = lines.findIndex((one, index) => index >= from && shape.test(one));
    if (found < 0) return line;
    from = found + 1;
  }
  return undefined;
}

function shapeOf(line: string): RegExp {
  const words = line.trim().split(/\s+/).map(wordShape);
  return new RegExp(`^\\s*${words.join('\\s+')}\\s*$`);
}

const ID = /^(?:evt|ord|pay|ref|dp|cus|demo|order|play|thk)[-_][\w…-]+$/;

function wordShape(word: string): string {
  if (word === ELLIPSIS) return '.*';
  // A shortened id or secret: its beginning differs, too.
  if (ID.test(word) || /^\w+…$/.test(word)) return '[\\w-]+';
  return word
    .replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
    .replaceAll(/\d+/g, '\\d+')
    .replaceAll(ELLIPSIS, '.*');
}
