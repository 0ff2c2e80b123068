import { Link } from '@tanstack/react-router';
import type { ApiKey, Site } from '../../api/types.js';
import { useMessages } from '../../i18n/locale.js';
import { Copyable } from '../../ui/copy.js';
import { Notice } from '../../ui/notice.js';
import { Page, Section } from '../../ui/page.js';
import { keyForPages } from '../keys/key-facts.js';
import { pageSnippet, WAITING_SCRIPT } from '../keys/page-snippet.js';
import { useHasConsent } from '../sites/use-has-consent.js';

interface DoneProps {
  readonly site: Site;
  readonly keys: readonly ApiKey[];
}

/** The line for the pages of a site, and the arrival of its first consent. */
export function Done({ site, keys: made }: DoneProps) {
  const { wizard, keys, sites } = useMessages();
  const hasConsent = useHasConsent(site.id);
  const params = { siteId: site.id };
  const key = keyForPages(made, null);
  return (
    <Page title={wizard.titles.done} lead={hasConsent === true ? sites.stepArrived : wizard.doneLead}>
      <Section title={wizard.snippet} lead={key === null ? keys.browserText : wizard.snippetLead}>
        <Copyable label={wizard.snippet} text={pageSnippet(location.origin, key ?? keys.placeholder)} />
      </Section>
      <Section title={wizard.scripts} lead={wizard.scriptsLead}>
        <Copyable label={keys.gated} text={WAITING_SCRIPT} />
        <p>
          {wizard.more}{' '}
          <Link to="/sites/$siteId/api" params={params}>
            {keys.title}
          </Link>
        </p>
      </Section>
      <Section title={wizard.arrival}>
        <div role="status">
          {hasConsent === true ? (
            <Notice kind="good">
              <p>{sites.stepArrived}</p>
            </Notice>
          ) : (
            <p>{wizard.waiting}</p>
          )}
        </div>
        {hasConsent === true ? (
          <p>
            <Link to="/sites/$siteId/consents" params={params}>
              {wizard.toConsents}
            </Link>
          </p>
        ) : null}
      </Section>
    </Page>
  );
}
