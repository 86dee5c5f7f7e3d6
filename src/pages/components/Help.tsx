/** What the keyboard does. The script opens it; without a script there is nothing to press. */

export interface HelpItem {
  readonly label: string;
  readonly href: string;
  /** Pressed after `g`. */
  readonly shortcut: string;
}

const KEYS = [
  ['/', 'Search'],
  ['?', 'Show this help'],
  ['c', 'Copy the id that has the focus'],
] as const;

export function Help({ items }: { readonly items: readonly HelpItem[] }) {
  return (
    <dialog id="help" aria-labelledby="help-title">
      <h2 id="help-title">Keyboard shortcuts</h2>
      <dl class="keys">
        {KEYS.map(([key, does]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
        {items.map(({ label, href, shortcut }) => (
          <div key={href}>
            <dt>
              <kbd>g</kbd> <kbd>{shortcut}</kbd>
            </dt>
            <dd>
              <a href={href} data-key={shortcut}>
                {label}
              </a>
            </dd>
          </div>
        ))}
      </dl>
      <form class="help-choice" method="dialog">
        <label class="check">
          <input id="shortcuts" type="checkbox" />
          <span>Use these shortcuts in this browser</span>
        </label>
        <button type="submit">Close</button>
      </form>
    </dialog>
  );
}
