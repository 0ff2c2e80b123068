import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { dataOf } from '../../api/client.js';
import type { ConfigurationDraft, Site } from '../../api/types.js';
import { useApi, useMay } from '../../app-context.js';
import { useFormats, useMessages } from '../../i18n/locale.js';
import { Confirm } from '../../ui/confirm.js';
import { fieldMessage } from '../../ui/field-message.js';
import { Loaded } from '../../ui/loaded.js';
import { Notice } from '../../ui/notice.js';
import { Section } from '../../ui/page.js';
import { useAction } from '../../ui/use-action.js';
import { useSite } from '../sites/use-site.js';
import { Difference } from './difference.js';
import { DraftLinkSection } from './draft-link.js';
import { problemPlace } from './problem-place.js';
import { usePublished } from './published.js';
import { PublishedVersions } from './published-versions.js';
import { ruleProblemText } from './rule-words.js';
import { placeOfProblem } from './sections.js';
import { rulesOf } from './use-rules.js';

type DraftProblem = ConfigurationDraft['problems'][number];

interface PublishSectionProps {
  readonly siteId: string;
  readonly draft: ConfigurationDraft;
  /** Languages whose default texts publishing confirms; undefined while they are not known. */
  readonly unconfirmed: readonly string[] | undefined;
}

/** What publishing changes, what it still needs, and the versions that were published. */
export function PublishSection({ siteId, draft, unconfirmed }: PublishSectionProps) {
  const site = useSite(siteId);
  const mayChange = useMay('changeSites');
  const [published, setPublished] = useState<number | null>(null);
  const { banner } = useMessages();
  const { number } = useFormats();
  return (
    <>
      {published === null ? null : (
        <Notice key={published} kind="good" isAnnounced>
          <p>{banner.published(number(published))}</p>
        </Notice>
      )}
      <Loaded query={site}>
        {(shown) => (
          <>
            <NextVersion site={shown} draft={draft} unconfirmed={unconfirmed} onPublished={setPublished} />
            {mayChange ? <DraftLinkSection site={shown} draft={draft} /> : null}
          </>
        )}
      </Loaded>
      <PublishedVersions siteId={siteId} draft={draft} onPublished={setPublished} />
    </>
  );
}

interface NextVersionProps extends Pick<PublishSectionProps, 'draft' | 'unconfirmed'> {
  readonly site: Site;
  readonly onPublished: (number: number) => void;
}

function NextVersion({ site, draft, unconfirmed, onPublished }: NextVersionProps) {
  const { banner } = useMessages();
  const { languageName, list } = useFormats();
  const api = useApi();
  const mayChange = useMay('changeSites');
  const before = usePublished(site.id, draft.in_force?.number);
  const publish = useAction(() =>
    dataOf(
      api.POST('/api/v1/sites/{site_id}/configuration/publish', {
        params: { path: { site_id: site.id } },
        // Publishes only the draft that was shown.
        body: { revision: draft.revision },
      }),
    ),
  );
  const isVerified = site.verified_at !== null;
  const isReady = isVerified && draft.has_changes && draft.problems.length === 0 && unconfirmed !== undefined;
  const label = (unconfirmed ?? []).length === 0 ? banner.publish : banner.defaults.publish;
  return (
    <Section title={banner.next}>
      {isVerified && draft.problems.length === 0 ? null : (
        <Notice kind="warning">
          <p>{banner.problems}</p>
          <Needs site={site} problems={draft.problems} />
        </Notice>
      )}
      {draft.has_changes ? null : <p>{banner.nothingToPublish}</p>}
      {!draft.has_changes ? null : draft.in_force === null ? (
        <p>{banner.firstVersion}</p>
      ) : (
        <Loaded query={before}>
          {(old) => (
            <div className="stack">
              <p>{banner.differenceLead}</p>
              <Difference before={old} after={{ ...draft, rules: rulesOf(draft), domain: site.domain }} />
            </div>
          )}
        </Loaded>
      )}
      {mayChange ? (
        <div className="actions">
          <Confirm
            label={label}
            look="primary"
            isDanger={false}
            isDisabled={!isReady}
            action={async () => {
              const { number } = await publish(undefined);
              onPublished(number);
            }}
          >
            <p>{banner.publishText}</p>
            {unconfirmed === undefined || unconfirmed.length === 0 ? null : (
              <p>{banner.defaults.publishText(list(unconfirmed.map(languageName)))}</p>
            )}
          </Confirm>
        </div>
      ) : null}
    </Section>
  );
}

interface NeedsProps {
  readonly site: Site;
  readonly problems: readonly DraftProblem[];
}

/** What publishing needs, each with a link to the place where it is done. */
function Needs({ site: { id: siteId, domain, verified_at }, problems }: NeedsProps) {
  const { banner, fieldMessages, rules } = useMessages();
  const { languageName } = useFormats();
  const words: Readonly<Record<string, string>> = {
    'is missing': banner.isMissing,
    'must list at least one language': banner.needsLanguage,
  };
  const needs = new Map<string, ReactNode>();
  for (const { field, message } of problems) {
    const what = field.startsWith('appearance.')
      ? banner.isUnfair
      : (words[message] ?? ruleProblemText(message, rules) ?? fieldMessage(fieldMessages, message));
    const name = problemPlace(field, { banner, rules }, languageName);
    const { section, anchor, language } = placeOfProblem(field);
    if (needs.has(`${name}: ${what}`)) continue;
    needs.set(
      `${name}: ${what}`,
      <>
        <Link
          to="/sites/$siteId/banner/$section"
          params={{ siteId, section }}
          search={language === undefined ? {} : { language }}
          hash={anchor}
        >
          {name}
        </Link>
        {`: ${what}`}
      </>,
    );
  }
  return (
    <ul className="list">
      {verified_at === null ? (
        <li>
          <Link to="/sites/$siteId" params={{ siteId }}>
            {domain}
          </Link>
          : {banner.notVerified}
        </li>
      ) : null}
      {[...needs].map(([key, need]) => (
        <li key={key}>{need}</li>
      ))}
    </ul>
  );
}
