import type { Statistics } from '../../api/types.js';
import { useFormats, useMessages } from '../../i18n/locale.js';
import { Table } from '../../ui/table.js';
import { DECISIONS } from '../consents/filters.js';

const WIDTH = 900;
const HEIGHT = 220;
const LEFT = 44;
const BOTTOM = 24;
const PLOT = HEIGHT - BOTTOM;

/** Bars of the decisions of each day, and the same numbers as a table. */
export function DecisionChart({ statistics }: { readonly statistics: Statistics }) {
  const { overview, consents } = useMessages();
  const { number, day: dayText } = useFormats();
  const { days, totals } = statistics;
  const top = roundTop(Math.max(1, ...days.map(({ total }) => total)));
  const step = (WIDTH - LEFT) / Math.max(1, days.length);
  const heightOf = (count: number) => (count / top) * (PLOT - 8);
  return (
    <figure className="chart">
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        role="img"
        aria-label={`${overview.chart}. ${overview.chartSummary(number(totals.total), number(days.length))}`}
      >
        {[0, 0.5, 1].map((share) => (
          <g key={share}>
            <line
              className="chart-line"
              x1={LEFT}
              x2={WIDTH}
              y1={PLOT - heightOf(top * share)}
              y2={PLOT - heightOf(top * share)}
            />
            <text className="chart-text" x={LEFT - 8} y={PLOT - heightOf(top * share) + 4} textAnchor="end">
              {number(top * share)}
            </text>
          </g>
        ))}
        {days.map((day, index) => {
          let y = PLOT;
          return (
            <g key={day.day}>
              {DECISIONS.map((decision) => {
                const height = heightOf(day[decision]);
                y -= height;
                return (
                  <rect
                    key={decision}
                    className={`series-${decision}`}
                    x={LEFT + index * step + step * 0.15}
                    y={y}
                    width={step * 0.7}
                    height={height}
                  />
                );
              })}
            </g>
          );
        })}
        {[days[0], days.at(-1)].map((day, index) =>
          day === undefined ? null : (
            <text
              key={day.day}
              className="chart-text chart-day"
              x={index === 0 ? LEFT : WIDTH}
              y={HEIGHT - 6}
              textAnchor={index === 0 ? 'start' : 'end'}
            >
              {dayText(day.day)}
            </text>
          ),
        )}
      </svg>
      <ul className="legend">
        {DECISIONS.map((decision) => (
          <li key={decision}>
            <span className={`legend-mark mark-${decision}`} aria-hidden="true" />
            {consents.decisions[decision]}: {number(totals[decision])}
          </li>
        ))}
      </ul>
      <details>
        <summary>{overview.asTable}</summary>
        <Table
          label={overview.chart}
          items={days.filter(({ total }) => total > 0)}
          keyOf={({ day }) => day}
          columns={[
            { label: overview.day, cell: ({ day }) => dayText(day) },
            ...DECISIONS.map((decision) => ({
              label: consents.decisions[decision],
              phone: 'labelled' as const,
              cell: (day: Statistics['days'][number]) => number(day[decision]),
            })),
            { label: overview.total, phone: 'labelled', cell: ({ total }) => number(total) },
          ]}
        />
      </details>
    </figure>
  );
}

/** The next even number of one leading digit, so that half of it is whole. */
function roundTop(count: number): number {
  const size = 10 ** Math.floor(Math.log10(count));
  const rounded = Math.ceil(count / size) * size;
  return rounded % 2 === 0 ? rounded : rounded + Math.max(1, size);
}
