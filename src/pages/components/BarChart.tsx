/** A row of bars for values over time. The same values stand in a table, so that it needs no legend. */

export interface Bar {
  /** What the bar stands for, such as a day. */
  readonly name: string;
  readonly value: number;
  /** The value for people. */
  readonly text: string;
}

const WIDTH = 300;
const HEIGHT = 48;
const GAP = 2;

/** @param tone the color; the label states what it means */
export function BarChart({
  label,
  bars,
  tone,
}: {
  readonly label: string;
  readonly bars: readonly Bar[];
  readonly tone: 'in' | 'out' | 'left';
}) {
  const highest = Math.max(1, ...bars.map(({ value }) => value));
  const lowest = Math.min(0, ...bars.map(({ value }) => value));
  const scale = (value: number) => Math.round((value / (highest - lowest)) * (HEIGHT - 2));
  const zero = HEIGHT - 1 - scale(-lowest);
  const step = WIDTH / Math.max(1, bars.length);
  return (
    <svg
      class="bars"
      role="img"
      aria-label={label}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
    >
      <line x1="0" x2={WIDTH} y1={zero + 0.5} y2={zero + 0.5} />
      {bars.map(({ name, value, text }, place) => {
        const height = Math.max(value === 0 ? 0 : 1, scale(Math.abs(value)));
        return (
          <rect
            key={name}
            class={value < 0 ? 'out' : tone}
            x={Math.round(place * step * 10) / 10}
            y={value < 0 ? zero + 1 : zero - height}
            width={Math.round((step - GAP) * 10) / 10}
            height={height}
          >
            <title>{`${name}: ${text}`}</title>
          </rect>
        );
      })}
    </svg>
  );
}
