import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useEffect, useState } from 'react';
import { answerOf } from '../../api/client.js';
import type { Site } from '../../api/types.js';
import { useApi, useMay } from '../../app-context.js';
import { useMessages } from '../../i18n/locale.js';
import { Button } from '../../ui/button.js';
import { Section } from '../../ui/page.js';
import { isPolicyInForce } from '../documents/policy-in-force.js';
import { useHasConsent } from './use-has-consent.js';

/**
 * The steps from a new site to its first consent. Whether a step is done follows from what exists. A site with a
 * consent has done them all, so the list is not shown for it; if it is already open, it stays until it is closed.
 */
export function Checklist({ site }: { readonly site: Site }) {
  const [wasOpen, setWasOpen] = useState(false);
  const [isClosed, setClosed] = useState(false);
  const hasConsent = useHasConsent(site.id);
  useEffect(() => {
    if (hasConsent === false) setWasOpen(true);
  }, [hasConsent]);
  if (hasConsent === undefined || isClosed || (hasConsent && !wasOpen)) return null;
  return <Steps site={site} hasConsent={hasConsent} onClose={() => setClosed(true)} />;
}

interface StepsProps {
  readonly site: Site;
  readonly hasConsent: boolean;
  readonly onClose: () => void;
}

function Steps({ site, hasConsent, onClose }: StepsProps) {
  const { sites, shell, common, wizard } = useMessages();
  const mayChange = useMay('changeSites');
  const { hasText, hasKey } = useMade(site.id);
  const isOpen = site.verified_at === null || !hasText || site.configuration === null || !hasKey;
  const params = { siteId: site.id };
  return (
    <Section title={sites.steps} actions={hasConsent ? <Button onPress={onClose}>{common.close}</Button> : undefined}>
      <ol className="steps">
        <Step isDone text={sites.stepSite} />
        <Step isDone={site.verified_at !== null} text={sites.stepDomain}>
          <Link to="/sites/$siteId" params={params}>
            {shell.siteSettings}
          </Link>
        </Step>
        <Step isDone={hasText} text={sites.stepText}>
          <Link to="/sites/$siteId/documents" params={params}>
            {shell.documents}
          </Link>
        </Step>
        <Step isDone={site.configuration !== null} text={sites.stepBanner}>
          <Link to="/sites/$siteId/banner" params={params}>
            {shell.banner}
          </Link>
        </Step>
        <Step isDone={hasKey} text={sites.stepKey}>
          <Link to="/sites/$siteId/api" params={params}>
            {shell.apiSettings}
          </Link>
        </Step>
        <Step isDone={hasConsent} text={hasConsent ? sites.stepArrived : sites.stepConsent}>
          <Link to="/sites/$siteId/consents" params={params}>
            {shell.consents}
          </Link>
        </Step>
      </ol>
      {isOpen && mayChange ? (
        <div className="actions">
          <Link className="button button-primary" to="/sites/new" search={{ site: site.id }}>
            {wizard.goOn}
          </Link>
        </div>
      ) : null}
    </Section>
  );
}

/**
 * Returns whether a site has a text in force and a key that records. They are read separately, so that each is right if
 * the other fails.
 */
function useMade(siteId: string): { readonly hasText: boolean; readonly hasKey: boolean } {
  const api = useApi();
  const params = { path: { site_id: siteId }, query: { limit: 100 } };
  const { data: hasText = false } = useQuery({
    queryKey: ['has-text', siteId],
    queryFn: async () => {
      const { data } = await answerOf(api.GET('/api/v1/sites/{site_id}/documents', { params }));
      return data.some(isPolicyInForce);
    },
  });
  const { data: hasKey = false } = useQuery({
    queryKey: ['has-key', siteId],
    queryFn: async () => {
      const { data } = await answerOf(api.GET('/api/v1/sites/{site_id}/api-keys', { params }));
      return data.some(({ scope, revoked_at }) => scope === 'write' && revoked_at === null);
    },
  });
  return { hasText, hasKey };
}

interface StepProps {
  readonly isDone: boolean;
  readonly text: string;
  /** Leads to the page on which the step is done. */
  readonly children?: ReactNode;
}

function Step({ isDone, text, children }: StepProps) {
  const { sites } = useMessages();
  return (
    <li className={isDone ? 'step-done' : undefined}>
      {isDone ? (
        <>
          <span aria-hidden="true">✓</span> <span className="for-readers">{sites.stepDone}: </span>
        </>
      ) : null}
      <span role={isDone ? 'status' : undefined}>{text}</span> {isDone ? null : children}
    </li>
  );
}
