/** Forms: filters, which are part of the address, and actions. */
import type { ComponentChildren, JSX } from 'preact';
import { rolesWith } from '../../access/domain/roles.ts';
import { actionHref } from '../links.ts';
import type { PageAction, Viewer } from '../page.ts';

/**
 * A form of which the values become the query of the page, so that a filter has an address to share. On the way back to
 * a page, a browser must not fill in what was sent from it: the rows are those of its own address.
 */
export function FilterForm({
  action,
  label = 'Filter',
  children,
}: {
  readonly action: string;
  /** The text of its button. */
  readonly label?: string;
  readonly children: ComponentChildren;
}) {
  return (
    <form class="filter" method="get" action={action} autocomplete="off">
      {children}
      <button type="submit">{label}</button>
      <a href={action}>Clear</a>
    </form>
  );
}

/**
 * Around a list with rows to check. On the way back to it, a browser checks boxes by their place, where other rows may
 * be by then.
 */
export function RowsForm({
  action,
  method = 'get',
  children,
}: {
  readonly action: string;
  readonly method?: 'get' | 'post';
  readonly children: ComponentChildren;
}) {
  return (
    <form method={method} action={action} autocomplete="off">
      {children}
    </form>
  );
}

interface FieldProps {
  readonly name: string;
  readonly label: string;
  readonly value?: string | undefined;
}

export function Select({
  name,
  label,
  value,
  options,
  any,
}: FieldProps & {
  readonly options: readonly (string | { readonly value: string; readonly label: string })[];
  /** The choice of no value; undefined: one must be chosen. */
  readonly any?: string;
}) {
  return (
    <label class="field">
      <span>{label}</span>
      <select name={name}>
        {any === undefined ? null : <option value="">{any}</option>}
        {options.map((option) => {
          const one = typeof option === 'string' ? { value: option, label: option } : option;
          return (
            <option key={one.value} value={one.value} selected={one.value === value}>
              {one.label}
            </option>
          );
        })}
      </select>
    </label>
  );
}

export function Field({
  name,
  label,
  value,
  type = 'text',
  required = false,
  hint,
}: FieldProps & {
  readonly type?: 'text' | 'date' | 'datetime-local' | 'number' | 'email' | 'password';
  readonly required?: boolean;
  readonly hint?: string;
}) {
  return (
    <label class="field">
      <span>{label}</span>
      <input {...({ name, type, value, required } as JSX.IntrinsicElements['input'])} />
      {hint === undefined ? null : <small>{hint}</small>}
    </label>
  );
}

/** Several lines of text. */
export function TextArea({
  name,
  label,
  value,
  rows = 4,
  required = false,
  hint,
}: {
  readonly name: string;
  readonly label: string;
  readonly value?: string;
  readonly rows?: number;
  readonly required?: boolean;
  readonly hint?: string;
}) {
  return (
    <label class="field wide">
      <span>{label}</span>
      {/* A browser leaves out the first line break. */}
      <textarea name={name} rows={rows} required={required} value={`\n${value ?? ''}`} />
      {hint === undefined ? null : <small>{hint}</small>}
    </label>
  );
}

/** A box to check: one of several values of a name, or a confirmation. */
export function Check({
  name,
  value,
  label,
  required = false,
}: {
  readonly name: string;
  readonly value: string;
  readonly label: ComponentChildren;
  readonly required?: boolean;
}) {
  return (
    <label class="check">
      <input type="checkbox" name={name} value={value} required={required} />
      <span>{label}</span>
    </label>
  );
}

/** What the person saw, so that the action can compare it. */
export function Hidden({ name, value }: { readonly name: string; readonly value: string }) {
  return <input type="hidden" name={name} value={value} />;
}

/** The reason of an action, for the audit log. */
export function Reason() {
  return <Field name="reason" label="Reason" required hint="Recorded in the audit log." />;
}

export interface ActionFormProps {
  readonly viewer: Viewer;
  readonly action: PageAction;
  readonly params?: Readonly<Record<string, string | number>>;
  /** The text of its button. */
  readonly label: string;
  /** The button of an action that cannot be undone looks so. */
  readonly isDangerous?: boolean;
  readonly children?: ComponentChildren;
}

/** A form that carries out an action; for a viewer whose role may not, a line that states who may. */
export function ActionForm(props: ActionFormProps) {
  const { viewer, action, params = {}, label, isDangerous = false, children } = props;
  if (!viewer.may(action.permission)) {
    const roles = rolesWith(action.permission).join(', ');
    return (
      <p class="refused">{`${label}: your role may not do this. Roles that may: ${roles}.`}</p>
    );
  }
  return (
    <form
      class="action"
      method="post"
      action={actionHref(action.path, params)}
      encType={action.maxFileBytes === undefined ? undefined : 'multipart/form-data'}
    >
      <input type="hidden" name="form_token" value={viewer.formToken} />
      {children}
      <button type="submit" class={isDangerous ? 'danger' : undefined}>
        {label}
      </button>
    </form>
  );
}
