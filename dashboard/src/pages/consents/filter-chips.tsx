import { Link } from '@tanstack/react-router';
import { useFormats, useMessages } from '../../i18n/locale.js';
import { type Filters, isFiltered } from './filters.js';

interface FilterChipsProps {
  readonly siteId: string;
  readonly filters: Filters;
}

/** The filters of the list in words, each with a link that removes it. */
export function FilterChips({ siteId, filters }: FilterChipsProps) {
  const { consents } = useMessages();
  const { day } = useFormats();
  if (!isFiltered(filters)) return null;
  const { from, to, zone, type, decision, channel, category } = filters;
  const dayOf = (text: string) => (zone === undefined ? day(text) : `${day(text)} (${zone})`);
  const words: Readonly<Record<string, string | undefined>> = {
    from: from && `${consents.from}: ${dayOf(from)}`,
    to: to && `${consents.to}: ${dayOf(to)}`,
    type: type && `${consents.type}: ${type}`,
    decision: decision && `${consents.decision}: ${consents.decisions[decision]}`,
    channel: channel && `${consents.channel}: ${consents.channels[channel]}`,
    category: category && `${consents.category}: ${category}`,
  };
  return (
    <ul className="chips" aria-label={consents.filtered}>
      {Object.entries(words).map(([name, text]) =>
        text === undefined ? null : (
          <li key={name}>
            <Link
              className="chip"
              activeOptions={{ exact: true }}
              to="/sites/$siteId/consents"
              params={{ siteId }}
              search={{ ...filters, [name]: undefined }}
              aria-label={consents.removeFilter(text)}
            >
              {text} <span aria-hidden="true">×</span>
            </Link>
          </li>
        ),
      )}
      <li>
        <Link to="/sites/$siteId/consents" params={{ siteId }} search={{}}>
          {consents.clear}
        </Link>
      </li>
    </ul>
  );
}
