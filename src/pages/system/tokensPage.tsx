/** Tokens: who holds which role, a new one, and the end of one. */
import { z } from 'zod';
import { ROLES } from '../../access/domain/roles.ts';
import { readTokenRows, type TokenRow } from '../../access/store/tokens.ts';
import { revokeTokenAs } from '../../actions/manageTokens.ts';
import { createToken } from '../../console/routes/tokens.ts';
import { cursor, number } from '../../console/schemas.ts';
import { cutPage, numberPlace, readCursor } from '../../representation/cursor.ts';
import { type Column, DataTable, Pager, Preformatted, Section } from '../components/blocks.tsx';
import { ActionForm, Check, Field, FilterForm, Hidden, Select } from '../components/forms.tsx';
import { Badge, Time, type Tone } from '../components/values.tsx';
import { tokensHref } from '../links.ts';
import { defineAction, definePage, type Viewer } from '../page.ts';
import { throughEndpoint } from '../throughEndpoint.ts';
import { SYSTEM_CRUMB, SystemNav } from './SystemNav.tsx';

const PAGE_SIZE = 50;
const HOURS_PER_DAY = 24;

export const createTokenAction = defineAction({
  path: '/system/tokens/create',
  permission: 'manage_tokens',
  params: z.strictObject({}),
  form: z.strictObject({
    name: z.string().trim(),
    role: z.enum(ROLES),
    days: z.coerce.number().int().min(1).max(3_650).optional(),
  }),
  act: async (parts, { form: { name, role, days }, actor }) => {
    const body = {
      name,
      role,
      ...(days !== undefined && { expires_in_hours: days * HOURS_PER_DAY }),
    };
    return await throughEndpoint(createToken, parts, { actor, body }, (given) => {
      const { token } = CREATED.parse(given);
      return { outcome: 'shown', view: (viewer) => createdView({ name, role, token, viewer }) };
    });
  },
});

const CREATED = z.object({ token: z.string() });

function createdView(created: {
  readonly name: string;
  readonly role: string;
  readonly token: string;
  readonly viewer: Viewer;
}) {
  const { name, role, token, viewer } = created;
  return {
    title: 'Token created',
    crumbs: [SYSTEM_CRUMB, { label: 'Tokens', href: tokensHref() }],
    body: (
      <>
        <SystemNav viewer={viewer} current={tokensHref()} />
        <p class="notice warn">
          {`The token ${name} has the role ${role}. Copy it now: it is not stored and not shown again.`}
        </p>
        <Preformatted label="The token">{token}</Preformatted>
        <p>
          Give it to its holder on a safe way. It works within a second, as a bearer token and to
          sign in here. <a href={tokensHref()}>Show the tokens</a>
        </p>
      </>
    ),
  };
}

export const revokeTokenAction = defineAction({
  path: '/system/tokens/{name}/revoke',
  permission: 'manage_tokens',
  params: z.strictObject({ name: z.string() }),
  form: z.strictObject({ token: number, confirm: z.literal('yes') }),
  act: async ({ db }, { params: { name }, form: { token }, actor }) => {
    const { outcome } = await revokeTokenAs({ db }, actor, { name, id: token });
    if (outcome === 'revoked') {
      return { outcome: 'done', to: tokensHref(), notice: `The token ${name} is revoked.` };
    }
    const message = `The token ${name} that the page showed is already revoked. A later token may have its name.`;
    const about = { label: 'Show the tokens', href: tokensHref() };
    return { outcome: 'conflict', message, about };
  },
});

export const tokensPage = definePage({
  path: '/system/tokens',
  permission: 'manage_tokens',
  params: z.strictObject({}),
  query: z.strictObject({ all: z.literal('1').optional(), cursor }),
  load: async ({ db }, { query: { all, cursor: current } }) => {
    const from = readCursor(current, numberPlace);
    if (from.outcome !== 'read') return from;
    const page = { all: all !== undefined, below: from.place?.[0], limit: PAGE_SIZE + 1 };
    const { shown, next } = cutPage(await readTokenRows(db, page), PAGE_SIZE, (row) => [row.id]);
    return { outcome: 'ok', data: { tokens: shown, next, all, current } };
  },
  view: ({ tokens, next, all, current }, viewer) => ({
    title: 'Tokens',
    crumbs: [SYSTEM_CRUMB],
    body: (
      <>
        <SystemNav viewer={viewer} current={tokensHref()} />
        <FilterForm action={tokensHref()}>
          <Select
            name="all"
            label="Show"
            value={all}
            any="Valid tokens"
            options={[{ value: '1', label: 'Also expired and revoked ones' }]}
          />
        </FilterForm>
        <DataTable
          caption="Tokens, newest first; ADMIN_TOKEN is not among them"
          columns={[...COLUMNS, revokeColumn(viewer)]}
          rows={tokens}
          keyOf={({ id }) => String(id)}
          empty="No token yet. Create one for each person and program below, so that the audit log names them."
        />
        <Pager
          first={current === undefined ? undefined : tokensHref({ all })}
          next={next === null ? undefined : tokensHref({ all, cursor: next })}
        />
        <Section title="Create a token">
          <ActionForm viewer={viewer} action={createTokenAction} label="Create">
            <Field
              name="name"
              label="Name"
              required
              hint="Of one person or program: lowercase letters, digits, . _ and -"
            />
            <Select name="role" label="Role" options={ROLES} value="viewer" />
            <Field name="days" label="Expires after days" type="number" hint="Empty: never" />
          </ActionForm>
        </Section>
      </>
    ),
  }),
});

const TONES: Readonly<Record<TokenRow['state'], Tone>> = {
  valid: 'good',
  expired: 'warn',
  revoked: 'plain',
};

const COLUMNS: readonly Column<TokenRow>[] = [
  { title: 'Name', cell: ({ name }) => name },
  { title: 'Role', cell: ({ role }) => role },
  {
    title: 'State',
    cell: ({ state, revokedAt, revokedBy }) => (
      <>
        <Badge tone={TONES[state]}>{state}</Badge>
        {revokedAt === null ? null : (
          <div class="cause">
            {`by ${revokedBy} at `}
            <Time at={revokedAt} />
          </div>
        )}
      </>
    ),
  },
  { title: 'Last used', cell: ({ lastUsedAt }) => <Time at={lastUsedAt} isRelative /> },
  { title: 'Expires', cell: ({ expiresAt }) => <Time at={expiresAt} /> },
  {
    title: 'Created',
    cell: ({ createdAt, createdBy }) => (
      <>
        <Time at={createdAt} />
        <div class="cause">{`by ${createdBy}`}</div>
      </>
    ),
  },
];

const revokeColumn = (viewer: Viewer): Column<TokenRow> => ({
  title: 'Action',
  cell: ({ id, name, state }) =>
    state === 'revoked' ? null : (
      <details>
        <summary>{`Revoke ${name} …`}</summary>
        <ActionForm
          viewer={viewer}
          action={revokeTokenAction}
          params={{ name }}
          label="Revoke"
          isDangerous
        >
          <Hidden name="token" value={String(id)} />
          <Check
            name="confirm"
            value="yes"
            required
            label={`Refuse what uses ${name}, within five seconds`}
          />
        </ActionForm>
      </details>
    ),
});
