/** Two bodies side by side, with what Tallyhook read from each and what differs. */
import { describeAbsence } from '../../ledger/domain/bodyAbsence.ts';
import { type DiffRow, diffLines } from '../../ledger/domain/lineDiff.ts';
import type { EventBody } from '../../ledger/read/eventBodies.ts';
import type { StoredEvidence } from '../../ledger/read/store/explain.ts';
import { jsonLines } from '../../representation/jsonLines.ts';
import { ScrollRegion, Section } from '../components/blocks.tsx';

export interface Side {
  readonly body: readonly string[];
  readonly snapshots: readonly string[];
  /** One sentence: why there is no body. */
  readonly absence: string | undefined;
}

const MAX_LINES = 5_000;

/** @param event the inbox number of the event; undefined: a response of the service brought the snapshots */
export function sideOf(
  event: number | undefined,
  { body, absence }: EventBody,
  snapshots: readonly Pick<StoredEvidence, 'ref' | 'content'>[],
): Side {
  return {
    body: body ? jsonLines(body.toString('utf8')).slice(0, MAX_LINES) : [],
    snapshots: snapshots.flatMap(({ ref, content }) => [
      `${ref.kind} ${ref.id}`,
      ...Object.entries(content).map(([name, value]) => `  ${name}: ${String(value)}`),
    ]),
    absence:
      event === undefined
        ? 'A response of the service has no body here: only its snapshot is kept.'
        : absence && `Event ${event}: ${describeAbsence(absence)}.`,
  };
}

export function Comparison({ left, right }: { readonly left: Side; readonly right: Side }) {
  return (
    <>
      <Section title="As received">
        <Absences sides={[left, right]} />
        <Difference
          caption="The bodies, with their differences"
          left={left.body}
          right={right.body}
        />
      </Section>
      <Section title="As the ledger read it">
        <Difference
          caption="The snapshots, with their differences"
          left={left.snapshots}
          right={right.snapshots}
        />
      </Section>
    </>
  );
}

function Absences({ sides }: { readonly sides: readonly Side[] }) {
  const texts = new Set(sides.flatMap(({ absence }) => absence ?? []));
  return (
    <>
      {[...texts].map((text) => (
        <p key={text}>{text}</p>
      ))}
    </>
  );
}

/** Rows of two texts; a line that only one side has is marked, in words and by its color. */
function Difference({
  caption,
  left,
  right,
}: {
  readonly caption: string;
  readonly left: readonly string[];
  readonly right: readonly string[];
}) {
  const rows = diffLines(left, right);
  if (rows.length === 0) return <p class="empty">Both sides are empty.</p>;
  return (
    <ScrollRegion label={caption}>
      <table class="difference">
        <caption>{caption}</caption>
        <thead>
          <tr>
            <th scope="col">Left</th>
            <th scope="col">Right</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row, place) => (
            <DifferenceRow key={`${place}`} row={row} />
          ))}
        </tbody>
      </table>
    </ScrollRegion>
  );
}

function DifferenceRow({ row: { left, right } }: { readonly row: DiffRow }) {
  return (
    <tr>
      <td>{right === undefined ? <del>{left}</del> : <code>{left}</code>}</td>
      <td>{left === undefined ? <ins>{right}</ins> : <code>{right}</code>}</td>
    </tr>
  );
}
