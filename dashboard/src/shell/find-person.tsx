import { useEffect, useRef, useState } from 'react';
import { answerOf } from '../api/client.js';
import type { PersonReference, Site } from '../api/types.js';
import { useApi } from '../app-context.js';
import { useFormats, useMessages } from '../i18n/locale.js';
import { BY } from '../pages/consents/person-search.js';
import { ReasonInput } from '../pages/consents/reason.js';
import { useSearchPersonIn } from '../pages/consents/searched-person.js';
import { ActionForm, type Values } from '../ui/action-form.js';
import { Button } from '../ui/button.js';
import { SelectInput } from '../ui/fields.js';
import { Loaded } from '../ui/loaded.js';
import { useSites } from './use-sites.js';

interface FindPersonProps {
  /** What was typed. */
  readonly value: string;
  /** Says something to everybody. */
  readonly onTell: (text: string) => void;
  /** The search led to a page. */
  readonly onLeave: () => void;
}

interface Found {
  readonly person: PersonReference;
  readonly reason: string;
  readonly sites: readonly Site[];
}

/** Searches for a person in every site, by the search of each site, which the audit log notes. */
export function FindPerson(props: FindPersonProps) {
  return <Loaded query={useSites()}>{(sites) => <FindPersonIn {...props} sites={sites} />}</Loaded>;
}

function FindPersonIn({ value, sites, onTell, onLeave }: FindPersonProps & { readonly sites: readonly Site[] }) {
  const { finder, consents } = useMessages();
  const { number } = useFormats();
  const api = useApi();
  const searchIn = useSearchPersonIn();
  const [found, setFound] = useState<Found | null>(null);
  const isLeft = useRef(false);
  useEffect(() => {
    isLeft.current = false;
    return () => {
      isLeft.current = true;
    };
  }, []);
  const hasRecords = async (site: Site, person: PersonReference, reason: string) => {
    const answer = await answerOf(
      api.POST('/api/v1/sites/{site_id}/consents/search', {
        params: { path: { site_id: site.id } },
        body: { person, reason, limit: 1 },
      }),
    );
    // A page can be empty although records follow.
    return answer.data.length > 0 || answer.next_cursor !== null;
  };
  const open = async (siteId: string, person: PersonReference, reason: string) => {
    onLeave();
    await searchIn(siteId, person, reason);
  };
  const search = async (values: Values) => {
    const person = { by: BY.find((one) => one === values.text('by')) ?? 'visitor_id', value };
    const reason = values.text('reason');
    const [only] = sites;
    if (only !== undefined && sites.length === 1) return open(only.id, person, reason);
    const hits: Site[] = [];
    for (const [index, site] of sites.entries()) {
      onTell(finder.personIn(number(index + 1), number(sites.length)));
      if (await hasRecords(site, person, reason)) hits.push(site);
      // Nobody waits for the answer any more, and each search is an entry of the audit log.
      if (isLeft.current) return;
    }
    const [first] = hits;
    if (first !== undefined && hits.length === 1) return open(first.id, person, reason);
    setFound({ person, reason, sites: hits });
    onTell(hits.length === 0 ? finder.personNowhere : finder.found(number(hits.length)));
  };
  return (
    <>
      <h2>{finder.personTitle}</h2>
      <p className="hint">{finder.personText(number(sites.length))}</p>
      <ActionForm submit={finder.personSearch} isInline action={search}>
        <SelectInput
          name="by"
          label={consents.by}
          defaultValue={value.includes('@') ? 'signer_email' : 'visitor_id'}
          options={BY.map((by) => ({ value: by, label: consents.bys[by] }))}
        />
        <ReasonInput about={value} />
      </ActionForm>
      {found === null || found.sites.length === 0 ? null : (
        <ul className="list">
          {found.sites.map(({ id, name }) => (
            <li key={id}>
              <Button look="quiet" onPress={() => open(id, found.person, found.reason)}>
                {finder.recordsIn(name)}
              </Button>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
