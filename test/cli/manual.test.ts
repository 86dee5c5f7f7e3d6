/**
 * The commands and queries of the manual work as they stand there, page by page, on one installation. What
 * needs no installation is checked by test/unit/docs/blocks.test.ts.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Block, manualBlocks, where, withExamples } from '../../scripts/manual/blocks.ts';
import { missingLine } from '../support/manual/formats.ts';
import { type ManualInstallation, startInstallation } from '../support/manual/installation.ts';
import { openSession, type Ran, type Session } from '../support/manual/session.ts';

let installation: ManualInstallation;
beforeAll(async () => {
  installation = await startInstallation();
});
afterAll(async () => {
  await installation?.close();
  const { user, system } = process.cpuUsage(startedCpu);
  const count = blocks.filter(({ isHidden }) => !isHidden).length;
  const seconds = Math.round((user + system) / 1e6);
  process.stdout.write(
    `${count} blocks of ${pages.length} pages in ${seconds} s of processor time\n`,
  );
});

const startedCpu = process.cpuUsage();
const blocks = manualBlocks().filter(({ way }) => ['run', 'output', 'query'].includes(way));
/** Pages that move the clock of the service come last, because it stays there. */
const movesClock = (page: string): boolean =>
  blocks.some((block) => block.page === page && block.code.includes('/clock/advance'));
const pages = [...new Set(blocks.map(({ page }) => page))].toSorted(
  (a, b) => Number(movesClock(a)) - Number(movesClock(b)),
);

test.each(pages)('%s', async (page) => {
  const own = blocks.filter((block) => block.page === page);
  const session = await openSession(installation);
  try {
    let last: Ran | undefined;
    for (const block of own) {
      if (block.way === 'output') expectOutput(block, last);
      else last = (await execute(block, session)) ?? last;
    }
  } finally {
    await session.close();
    await dropCreated();
  }
});

async function execute(block: Block, session: Session): Promise<Ran | undefined> {
  const { attributes, way } = block;
  if (way === 'query') {
    await query(block);
    return undefined;
  }
  const code = withExamples(block);
  const reply = attributes.reply === undefined ? '' : `export MANUAL_REPLY=${attributes.reply}\n`;
  const ran =
    attributes.until === undefined
      ? await session.run(`${reply}${code}`)
      : await session.runUntil(code, attributes.until);
  const expected = Number(attributes.exit ?? 0);
  const failed = expected === 0 ? ran.failed : undefined;
  expect(
    { code: ran.code, failed },
    `${where(block)}\n${code}\nstdout:\n${ran.stdout}\nstderr:\n${ran.stderr}`,
  ).toEqual({ code: expected, failed: undefined });
  return block.isHidden ? undefined : ran;
}

function expectOutput(block: Block, last: Ran | undefined): void {
  // Notes, such as that a command is ready, come first.
  const output = `${last?.stderr ?? ''}${last?.stdout ?? ''}`;
  expect(missingLine(block.code, output), `${where(block)}\n${output}`).toBeUndefined();
}

async function query(block: Block): Promise<void> {
  const { as: role } = block.attributes;
  const code = withExamples(block);
  const executed = role === undefined ? installation.query(code) : installation.queryAs(role, code);
  await executed.catch((error: unknown) => {
    throw new Error(`${where(block)}: ${String(error)}\n${code}`);
  });
  for (const [, kind = '', name = ''] of code.matchAll(/^create (role|database) (\w+)/gm)) {
    created.unshift({ kind, name });
  }
}

const created: { readonly kind: string; readonly name: string }[] = [];

/** What a page created is undone: roles belong to the cluster, which other tests use, too. */
async function dropCreated(): Promise<void> {
  for (const { kind, name } of created.splice(0)) {
    if (kind === 'role') await installation.query(`drop owned by ${name}`);
    await installation.query(`drop ${kind} ${name}`);
  }
}
