import { useState } from 'react';
import { dataOf } from '../../api/client.js';
import type { ConfigurationDraft, DraftLink, Site } from '../../api/types.js';
import { useApi } from '../../app-context.js';
import { useMessages } from '../../i18n/locale.js';
import { ActionForm } from '../../ui/action-form.js';
import { Copyable } from '../../ui/copy.js';
import { Notice } from '../../ui/notice.js';
import { Section } from '../../ui/page.js';
import { Time } from '../../ui/time.js';
import { useAction } from '../../ui/use-action.js';

interface DraftLinkSectionProps {
  readonly site: Site;
  readonly draft: ConfigurationDraft;
}

/** Makes a link that shows the draft on the site itself, to whoever has it. */
export function DraftLinkSection({ site, draft }: DraftLinkSectionProps) {
  const { banner } = useMessages();
  const api = useApi();
  const [link, setLink] = useState<DraftLink | null>(null);
  const make = useAction(() =>
    dataOf(api.POST('/api/v1/sites/{site_id}/configuration/draft-link', { params: { path: { site_id: site.id } } })),
  );
  return (
    <Section title={banner.link.title} lead={banner.link.lead}>
      {site.verified_at === null || draft.languages.length === 0 ? (
        <p>{banner.link.needs}</p>
      ) : (
        <ActionForm submit={banner.link.make} look="plain" action={async () => setLink(await make(undefined))}>
          {link === null ? null : (
            <Notice key={link.url} kind="good" isAnnounced>
              <p>
                {banner.link.made} <Time at={link.expires_at} />
              </p>
              <Copyable text={link.url} label={banner.link.title} />
              <a href={link.url} target="_blank" rel="noreferrer">
                {banner.link.open}
              </a>
            </Notice>
          )}
        </ActionForm>
      )}
    </Section>
  );
}
