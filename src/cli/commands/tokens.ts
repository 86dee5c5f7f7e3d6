import { Command, InvalidArgumentError, Option } from 'commander';
import { ROLES, type Role } from '../../access/domain/roles.ts';
import { nameMistake } from '../../access/domain/tokenName.ts';
import { MAX_TOKENS, readTokenRows, type TokenRow } from '../../access/store/tokens.ts';
import { createTokenAs, revokeTokenAs } from '../../actions/manageTokens.ts';
import { NotFoundError, OperatorError } from '../../platform/errors.ts';
import { printable } from '../../platform/printable.ts';
import { DAY_MS, HOUR_MS } from '../../platform/time.ts';
import { numberPlace } from '../../representation/cursor.ts';
import { formatTime } from '../../representation/time.ts';
import { tokenJson } from '../../representation/token.ts';
import { printJson, readConfig, withDatabase } from '../context.ts';
import { printLine, printNote } from '../invocation.ts';
import { jsonOption, limitOption } from '../options.ts';
import { cursorOption, type PageOptions, placeOf, printPage } from '../paging.ts';
import { actorOf, byOption } from '../person.ts';
import { printTable } from '../table.ts';

export function tokensCommand(): Command {
  return new Command('tokens')
    .addCommand(createTokenCommand())
    .addCommand(listCommand())
    .addCommand(revokeCommand());
}

interface CreateOptions {
  readonly name: string;
  readonly role: Role;
  readonly expiresIn?: number;
  readonly by?: string;
  readonly json: boolean;
}

function createTokenCommand(): Command {
  return new Command('create')
    .description('create a token for one person or program, and print it once')
    .addOption(
      new Option('--name <name>', 'name of the holder, recorded with what the holder does')
        .argParser(parseName)
        .makeOptionMandatory(),
    )
    .addOption(
      new Option('--role <role>', 'what the holder may do').choices(ROLES).makeOptionMandatory(),
    )
    .addOption(
      new Option(
        '--expires-in <time>',
        'after which time it expires, such as 12h or 90d (default: never)',
      ).argParser(parseSpanMs),
    )
    .addOption(byOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      '\nThe token works within a second, without a restart. Tallyhook stores its SHA-256 only: if the token is lost, revoke it and create another.\n\nExit code: 0 created, 4 another token has this name.',
    )
    .action(({ name, role, expiresIn, by, json }: CreateOptions) =>
      withDatabase(readConfig(), async (db) => {
        const request = { name, role, expiresInMs: expiresIn };
        const created = await createTokenAs({ db }, actorOf(by), request);
        switch (created.outcome) {
          case 'created':
            if (json) printJson({ ...tokenJson(created.token), token: created.text });
            else printCreated(created.text, created.token);
            return;
          case 'name_taken':
            throw new OperatorError(
              `Another token has the name ${name}. Choose another name, or revoke it first: \`npx tallyhook tokens revoke ${name}\`.`,
            );
          case 'too_many':
            throw new OperatorError(
              `There are ${MAX_TOKENS} valid tokens already. Revoke those that nobody uses: \`npx tallyhook tokens list\` shows when each was used.`,
            );
        }
      }),
    );
}

/** The token alone on standard output, so that a script can store it. */
function printCreated(text: string, { name, role, expiresAt }: TokenRow): void {
  const until = expiresAt === null ? 'does not expire' : `expires ${formatTime(expiresAt)}`;
  printNote(
    `The token ${name} has the role ${role} and ${until}. Store it now: it is not shown again.`,
  );
  printLine(text);
}

interface ListOptions extends PageOptions {
  readonly all: boolean;
}

function listCommand(): Command {
  return new Command('list')
    .description('list valid tokens, newest first: who holds which role, and when each was used')
    .option('--all', 'include expired and revoked tokens', false)
    .addOption(limitOption())
    .addOption(cursorOption())
    .addOption(jsonOption())
    .addHelpText('after', '\nThe list does not contain ADMIN_TOKEN.\n\nExit code: 0.')
    .action(({ all, ...page }: ListOptions) =>
      withDatabase(readConfig(), async (db) => {
        const [below] = placeOf(page.cursor, numberPlace) ?? [undefined];
        const tokens = await readTokenRows(db, { all, below, limit: page.limit + 1 });
        printPage(tokens, page, {
          name: 'tokens',
          placeOf: ({ id }) => [id],
          toJson: tokenJson,
          print: printTokens,
          none: 'No such tokens.',
        });
      }),
    );
}

function printTokens(tokens: readonly TokenRow[]): void {
  printTable(
    ['NAME', 'ROLE', 'STATE', 'CREATED', 'BY', 'LAST USED', 'EXPIRES'],
    tokens.map((token) => [
      token.name,
      token.role,
      stateOf(token),
      formatTime(token.createdAt),
      token.createdBy,
      formatTime(token.lastUsedAt),
      formatTime(token.expiresAt),
    ]),
  );
}

function stateOf({ state, revokedAt, revokedBy }: TokenRow): string {
  return revokedAt === null ? state : `revoked ${formatTime(revokedAt)} by ${revokedBy}`;
}

interface RevokeOptions {
  readonly by?: string;
  readonly json: boolean;
}

function revokeCommand(): Command {
  return new Command('revoke')
    .description('revoke a token: requests with it are refused within five seconds')
    .argument('<name>', 'name of the token, from `tallyhook tokens list`')
    .addOption(byOption())
    .addOption(jsonOption())
    .addHelpText('after', '\nExit code: 0 revoked, 3 there is no such token.')
    .action((name: string, { by, json }: RevokeOptions) =>
      withDatabase(readConfig(), async (db) => {
        const revoked = await revokeTokenAs({ db }, actorOf(by), { name });
        switch (revoked.outcome) {
          case 'revoked':
            if (json) printJson(tokenJson(revoked.token));
            else printLine(`The token ${name} is revoked.`);
            return;
          case 'unknown':
            throw new NotFoundError(
              `There is no token ${printable(name)} that could be revoked. \`npx tallyhook tokens list\` lists tokens.`,
            );
        }
      }),
    );
}

function parseName(text: string): string {
  const mistake = nameMistake(text);
  if (mistake !== undefined) throw new InvalidArgumentError(mistake);
  return text;
}

const LONGEST_SPAN_MS = 3_650 * DAY_MS;

function parseSpanMs(text: string): number {
  const [, count = '', unit = ''] = /^(\d{1,6})([hd])$/.exec(text) ?? [];
  const spanMs = Number(count) * (unit === 'd' ? DAY_MS : HOUR_MS);
  if (spanMs <= 0 || spanMs > LONGEST_SPAN_MS) {
    throw new InvalidArgumentError('Give hours or days, such as 12h or 90d; 3650d at most.');
  }
  return spanMs;
}
