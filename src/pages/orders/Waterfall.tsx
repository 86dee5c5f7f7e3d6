/** The money of an order in one currency as bars: what came in, what went back, and what is left. */
import { formatMoney } from '../../contract/money.ts';
import type { OrderTotals } from '../../ledger/domain/order.ts';

interface Step {
  readonly name: string;
  readonly tone: 'in' | 'out' | 'left';
  readonly fromMinor: number;
  readonly toMinor: number;
}

const WIDTH = 360;
const TEXT_WIDTH = 210;
const ROW = 26;
const BAR = 16;

export function Waterfall({ total }: { readonly total: Omit<OrderTotals, 'status'> }) {
  const steps = stepsOf(total);
  const largest = Math.max(1, ...steps.flatMap((step) => [step.fromMinor, step.toMinor]));
  const lowest = Math.min(0, ...steps.flatMap((step) => [step.fromMinor, step.toMinor]));
  const x = (minor: number) =>
    Math.round(TEXT_WIDTH + ((minor - lowest) / (largest - lowest)) * (WIDTH - TEXT_WIDTH));
  const textOf = (step: Step) => `${step.name} ${amountOf(step, total.currency)}`;
  return (
    <svg
      class="waterfall"
      role="img"
      aria-label={`Money in ${total.currency}: ${steps.map(textOf).join(', ')}`}
      viewBox={`0 0 ${WIDTH} ${steps.length * ROW}`}
      width={WIDTH}
      height={steps.length * ROW}
    >
      {steps.map((step, place) => (
        <g key={step.name}>
          <text x="0" y={place * ROW + BAR}>
            {textOf(step)}
          </text>
          <rect
            class={step.tone}
            x={Math.min(x(step.fromMinor), x(step.toMinor))}
            y={place * ROW + 4}
            width={Math.max(1, Math.abs(x(step.toMinor) - x(step.fromMinor)))}
            height={BAR}
          />
        </g>
      ))}
    </svg>
  );
}

/** Each step starts where the one before ended; a hold is shown apart, because it is not money yet. */
function stepsOf(total: Omit<OrderTotals, 'status'>): readonly Step[] {
  const steps: Step[] = [];
  if (total.authorizedMinor > 0) {
    steps.push({ name: 'Authorized', tone: 'left', fromMinor: 0, toMinor: total.authorizedMinor });
  }
  steps.push({ name: 'Captured', tone: 'in', fromMinor: 0, toMinor: total.capturedMinor });
  const taken = [
    ['Refunded', total.refundedMinor],
    ['Refund pending', total.refundPendingMinor],
    ['Disputed', total.disputedMinor],
    ['Charged back', total.chargedBackMinor],
  ] as const;
  let leftMinor = total.capturedMinor;
  for (const [name, amountMinor] of taken) {
    if (amountMinor === 0) continue;
    const toMinor = leftMinor - amountMinor;
    steps.push({ name, tone: 'out', fromMinor: leftMinor, toMinor });
    leftMinor = toMinor;
  }
  return [...steps, { name: 'Left', tone: 'left', fromMinor: 0, toMinor: leftMinor }];
}

function amountOf({ fromMinor, toMinor }: Step, currency: string): string {
  return formatMoney(toMinor - fromMinor, currency);
}
