import { type KeyboardEvent, type PointerEvent, useState } from 'react';
import type { Statistics } from '../../api/types.js';
import { useFormats, useMessages } from '../../i18n/locale.js';
import { Table } from '../../ui/table.js';
import { DECISIONS } from '../consents/filters.js';
import { Counted } from './counted.js';

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
  const [place, setPlace] = useState<number | null>(null);
  // A shorter period may have fewer days.
  const active = place !== null && place < days.length ? place : null;
  const shown = active === null ? undefined : days[active];
  const valuesOf = (day: Statistics['days'][number]) =>
    `${dayText(day.day)}: ${DECISIONS.map((decision) => `${consents.decisions[decision]} ${number(day[decision])}`).join(', ')}; ${overview.total} ${number(day.total)}`;
  const chooseByKey = (event: KeyboardEvent) => {
    const last = days.length - 1;
    const places: Readonly<Record<string, number>> = {
      ArrowLeft: Math.max(0, (active ?? last + 1) - 1),
      ArrowRight: Math.min(last, (active ?? last - 1) + 1),
      Home: 0,
      End: last,
    };
    const next = places[event.key];
    if (next === undefined) return;
    event.preventDefault();
    setPlace(next);
  };
  const chooseByPointer = (event: PointerEvent<HTMLDivElement>) => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    const pointed = Math.floor((((event.clientX - left) / width) * WIDTH - LEFT) / step);
    setPlace(pointed >= 0 && pointed < days.length ? pointed : null);
  };
  return (
    <figure className="chart">
      <div
        className="chart-plot"
        role="slider"
        tabIndex={0}
        aria-label={`${overview.chart}. ${overview.chartSummary(number(totals.total), number(days.length))}`}
        aria-valuemin={1}
        aria-valuemax={Math.max(1, days.length)}
        aria-valuenow={active === null ? Math.max(1, days.length) : active + 1}
        aria-valuetext={shown === undefined ? overview.chooseDay : valuesOf(shown)}
        onKeyDown={chooseByKey}
        onPointerMove={chooseByPointer}
        onPointerLeave={() => setPlace(null)}
      >
        <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true">
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
          {active === null ? null : (
            <rect className="chart-active" x={LEFT + active * step} y={0} width={step} height={PLOT} />
          )}
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
      </div>
      <p className="hint chart-value">{shown === undefined ? overview.chooseDay : valuesOf(shown)}</p>
      <ul className="legend">
        {DECISIONS.map((decision) => (
          <li key={decision}>
            <span className={`legend-mark mark-${decision}`} aria-hidden="true" />
            {consents.decisions[decision]}:{' '}
            <Counted statistics={statistics} decision={decision}>
              {number(totals[decision])}
            </Counted>
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
