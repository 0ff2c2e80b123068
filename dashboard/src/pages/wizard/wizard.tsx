import { useQuery } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useApi, useMay } from '../../app-context.js';
import { useLanguage, useMessages } from '../../i18n/locale.js';
import { Loaded } from '../../ui/loaded.js';
import { LoadedPage } from '../../ui/loaded-page.js';
import { Page } from '../../ui/page.js';
import { useUnsaved } from '../../ui/unsaved.js';
import { useDraft } from '../banner/use-draft.js';
import { answersOf } from './answers.js';
import { BannerStep } from './banner-step.js';
import { Done } from './done.js';
import { type Found, readExisting } from './existing.js';
import { type Place, placeOf } from './place.js';
import { stepsLeft } from './plan.js';
import { PolicyStep } from './policy-step.js';
import { PublishStep } from './publish-step.js';
import { AddedSite, NewSite } from './site-step.js';
import { type Kept, useKept } from './use-kept.js';

/** Leads from nothing to the first consent. What the service has decides what is left, so it can be left at any step. */
export function Wizard() {
  const { sites } = useMessages();
  const api = useApi();
  const mayChange = useMay('changeSites');
  const { site: siteId = null, step } = placeOf(useSearch({ strict: false }));
  const kept = useKept(siteId);
  useUnsaved(() => (kept.isEmpty ? null : 'kept-in-tab'));
  const query = useQuery({
    enabled: siteId !== null && mayChange,
    queryKey: ['set-up', siteId],
    queryFn: () => readExisting(api, siteId ?? '', null),
  });
  if (!mayChange) {
    return (
      <Page title={sites.add}>
        <p>{sites.emptyReader}</p>
      </Page>
    );
  }
  if (siteId === null) return <NewSite kept={kept} />;
  return (
    <LoadedPage query={query} back={<Link to="/sites">{sites.title}</Link>}>
      {(found) => <Steps key={siteId} found={found} kept={kept} step={step} />}
    </LoadedPage>
  );
}

interface StepsProps {
  readonly found: Found;
  readonly kept: Kept;
  /** The step that the address names, if it names one. */
  readonly step: Place | undefined;
}

function Steps({ found, kept, step }: StepsProps) {
  // The proof of the domain must not turn the page: the user sees that it was found, and goes on by a press.
  const [first] = useState<Place>(found.isProved ? 'policy' : 'site');
  const place = step ?? first;
  const { language } = useLanguage();
  const draft = useDraft(found.site.id);
  if (stepsLeft(found).length === 0) return <Done site={found.site} keys={found.keys} />;
  if (place === 'site') return <AddedSite site={found.site} />;
  return (
    <Loaded query={draft}>
      {(read) => {
        const props = { found, kept, draft: read, answers: answersOf(kept, read, language) };
        if (place === 'policy') return <PolicyStep {...props} />;
        return place === 'banner' ? <BannerStep {...props} /> : <PublishStep {...props} />;
      }}
    </Loaded>
  );
}
