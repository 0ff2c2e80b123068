import { Link } from '@tanstack/react-router';
import { useMessages } from '../../i18n/locale.js';
import { Breakable } from '../../ui/breakable.js';
import { ThingLink } from '../../ui/thing-link.js';
import { type Fact, factsOf, nameOf } from './entry-details.js';
import type { NamedEntry } from './use-entries.js';

/** Who did it, by name. */
export function Actor({ entry: { actor }, named }: NamedEntry) {
  const { audit } = useMessages();
  if (actor.user_id === null) return audit.actors[actor.kind];
  const name = named.get(actor.user_id)?.name;
  return name == null ? audit.actors.user : <Breakable text={name} />;
}

/** What it was done to, by name and with a link while it exists. */
export function Subject({ entry, named }: NamedEntry) {
  const { audit } = useMessages();
  const { subject } = entry;
  const thing = named.get(subject.id);
  const site = siteOf({ entry, named });
  const kind = audit.kinds[subject.kind] ?? subject.kind;
  return (
    <span className="stack-tight">
      <span>
        {OF_BANNER.includes(subject.kind) && site !== undefined ? (
          <Link to="/sites/$siteId/banner" params={{ siteId: site.id }}>
            {kind} {subject.kind === 'configuration' ? null : <Breakable text={labelOf(entry)} />}
          </Link>
        ) : thing === undefined ? (
          <>
            {kind}
            {/^[0-9a-f]{8}-/.test(subject.id) ? null : (
              <>
                {' '}
                <Breakable text={subject.id} />
              </>
            )}
          </>
        ) : (
          <ThingLink thing={thing}>
            {kind}
            {thing.name === null || thing.name === '' ? null : (
              <>
                {' '}
                <Breakable text={thing.name} />
              </>
            )}
          </ThingLink>
        )}
      </span>
      {site === undefined || subject.kind === 'site' ? null : <span className="hint">{site.name}</span>}
    </span>
  );
}

/** Objects that the page of the banner shows. */
const OF_BANNER: readonly string[] = ['banner_texts', 'category', 'configuration', 'cookie'];

/** What people call an object of the banner: a cookie has an id that nobody knows. */
function labelOf({ subject, details }: NamedEntry['entry']): string {
  return typeof details.name === 'string' ? details.name : subject.id;
}

/** The site that an entry concerns, if it exists. */
export function siteOf({ entry: { subject, details }, named }: NamedEntry) {
  const id = typeof details.site_id === 'string' ? details.site_id : (named.get(subject.id)?.site_id ?? '');
  const site = named.get(id);
  return site?.kind === 'site' ? site : undefined;
}

/** The further facts of an entry; the first of them without a press. */
export function Details({ entry, named }: NamedEntry) {
  const { audit } = useMessages();
  const facts = useFacts(entry);
  const first = facts.filter(({ name, kind }) => name === 'reason' || kind === 'change');
  const rest = facts.filter((fact) => !first.includes(fact));
  return (
    <span className="stack-tight">
      {first.length === 0 ? null : <FactList facts={first} named={named} />}
      {rest.length === 0 ? null : (
        <details>
          <summary>{audit.details}</summary>
          <FactList facts={rest} named={named} />
        </details>
      )}
    </span>
  );
}

/** The facts of an entry in the language of the reader. */
export function useFacts(entry: NamedEntry['entry']): readonly Fact[] {
  return factsOf(entry, useMessages());
}

interface FactListProps extends Pick<NamedEntry, 'named'> {
  readonly facts: readonly Fact[];
}

function FactList({ facts, named }: FactListProps) {
  const { audit } = useMessages();
  return (
    <ul className="fact-list">
      {facts.map((fact) => (
        <li key={fact.name}>
          <span className="hint">{nameOf(fact.name, audit.members)}:</span>{' '}
          {fact.kind === 'change' ? (
            <>
              <Named text={fact.before} named={named} /> <span aria-hidden="true">→</span>
              <span className="for-readers">{audit.becomes}</span> <Named text={fact.after} named={named} />
            </>
          ) : (
            <Named text={fact.text} named={named} />
          )}
        </li>
      ))}
    </ul>
  );
}

/** A value, or the name of the thing that it is the id of. */
function Named({ text, named }: { readonly text: string } & Pick<NamedEntry, 'named'>) {
  const { audit } = useMessages();
  const thing = named.get(text);
  if (thing === undefined) return <Breakable text={text} />;
  return (
    <ThingLink thing={thing}>
      <Breakable text={thing.name ?? audit.kinds[thing.kind] ?? text} />
    </ThingLink>
  );
}
