/** The settings in force, and where each comes from. */
import { z } from 'zod';
import { isSet, type SettingInForce, type SettingSource } from '../../config/settingsInForce.ts';
import { type Column, DataTable } from '../components/blocks.tsx';
import { FilterForm, Select } from '../components/forms.tsx';
import { Badge } from '../components/values.tsx';
import { settingsHref } from '../links.ts';
import { definePage } from '../page.ts';
import { SYSTEM_CRUMB, SystemNav } from './SystemNav.tsx';

export const settingsPage = definePage({
  path: '/system/settings',
  permission: 'read_audit',
  params: z.strictObject({}),
  query: z.strictObject({ only: z.enum(['set']).optional() }),
  load: ({ system: { settings } }, { query: { only } }) => {
    const rows = settings.filter((setting) => only === undefined || isSet(setting));
    return Promise.resolve({ outcome: 'ok', data: { rows, only } });
  },
  view: ({ rows, only }, viewer) => ({
    title: 'Settings',
    crumbs: [SYSTEM_CRUMB],
    body: (
      <>
        <SystemNav viewer={viewer} current={settingsHref()} />
        <p>
          These are the settings of the process that serves this page, as it read them at its start.
          Other processes may have others. Secrets are never shown.{' '}
          <code>docs/reference/settings.md</code> explains each setting, and{' '}
          <code>npx tallyhook settings</code> prints those of a shell.
        </p>
        <FilterForm action={settingsHref()}>
          <Select
            name="only"
            label="Show"
            value={only}
            any="All settings"
            options={[{ value: 'set', label: 'Those that are set' }]}
          />
        </FilterForm>
        <DataTable
          caption="Settings in force"
          columns={COLUMNS}
          rows={rows}
          keyOf={({ name }) => name}
          empty="No setting is set: every one has its default."
        />
      </>
    ),
  }),
});

const SOURCES: Readonly<Record<SettingSource, string>> = {
  environment: 'environment',
  file: 'file .env',
  secret_file: 'file',
  default: 'default',
  unset: 'not set',
};

const COLUMNS: readonly Column<SettingInForce>[] = [
  { title: 'Setting', cell: ({ name }) => <code>{name}</code> },
  {
    title: 'Value',
    cell: ({ value, source, fingerprints }) => {
      if (value !== null) return <code>{value}</code>;
      if (fingerprints !== undefined) return `fingerprints, in order: ${fingerprints.join(', ')}`;
      return source === 'unset' ? '' : <Badge>hidden</Badge>;
    },
  },
  {
    title: 'From',
    cell: ({ source, path }) => (path === undefined ? SOURCES[source] : <code>{path}</code>),
  },
];
