import type { NamedThing } from '../api/types.js';
import { useMessages } from '../i18n/locale.js';
import { ThingLink } from '../ui/thing-link.js';
import { useSites } from './use-sites.js';

/** The things that a text names, with links. */
export function Hits({ hits }: { readonly hits: readonly NamedThing[] }) {
  const { audit } = useMessages();
  const { data: sites = [] } = useSites();
  return (
    <ul className="list">
      {hits.map((thing) => {
        const site = thing.kind === 'site' ? undefined : sites.find(({ id }) => id === thing.site_id)?.name;
        return (
          <li key={`${thing.kind} ${thing.id}`}>
            <ThingLink thing={thing}>
              {audit.kinds[thing.kind] ?? thing.kind} {thing.name}
            </ThingLink>
            {site === undefined ? null : <span className="hint"> {site}</span>}
          </li>
        );
      })}
    </ul>
  );
}
