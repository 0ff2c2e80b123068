import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { isUnread } from '../../../../schemas/banner/load-texts.js';
import { gapsIn } from '../../../../schemas/text/gaps.js';
import { useApi } from '../../app-context.js';
import { useFormats, useMessages } from '../../i18n/locale.js';
import { Button } from '../../ui/button.js';
import { Loaded } from '../../ui/loaded.js';
import { Markdown } from '../../ui/markdown.js';
import { Notice } from '../../ui/notice.js';
import { Section } from '../../ui/page.js';
import { Facts } from '../../ui/table.js';
import { useAction } from '../../ui/use-action.js';
import { type TextsByLanguage, unconfirmedIn } from '../banner/default-texts.js';
import { defaultTextsOf } from '../banner/use-defaults.js';
import { loadTemplate } from '../documents/policy-templates/load-template.js';
import { DomainSection } from '../sites/domain-section.js';
import { factProblems, policyOf } from './answers.js';
import { chosenDraft } from './banner-draft.js';
import { publishAll } from './calls.js';
import { FailedStep } from './failed-step.js';
import type { Place } from './place.js';
import type { StepProps } from './policy-step.js';
import type { Policy } from './policy-text.js';
import { StepPage } from './step-page.js';

/** Shows what is published, and publishes it once nothing is missing. */
export function PublishStep(props: StepProps) {
  const { wizard } = useMessages();
  const { found, answers } = props;
  const needsPolicy = !found.hasTextInForce;
  const texts = useQuery(defaultTextsOf(answers.languages));
  const template = useQuery({
    queryKey: ['policy template', answers.policyLanguage],
    queryFn: () => loadTemplate(answers.policyLanguage),
  });
  return (
    <StepPage place="publish" siteId={found.site.id} lead={wizard.publishLead}>
      {found.isProved ? null : <DomainSection site={found.site} />}
      <Loaded query={template}>
        {(loaded) => (
          <Loaded query={texts}>
            {(known) => <Review {...props} texts={known} policy={needsPolicy ? policyOf(loaded, answers) : null} />}
          </Loaded>
        )}
      </Loaded>
    </StepPage>
  );
}

interface ReviewProps extends StepProps {
  readonly texts: TextsByLanguage;
  readonly policy: Policy | null;
}

function Review({ found, kept, draft, answers, texts, policy }: ReviewProps) {
  const { wizard, banner, sites } = useMessages();
  const { languageName, list } = useFormats();
  const api = useApi();
  const queries = useQueryClient();
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<unknown>(null);
  const { site } = found;
  const chosen = chosenDraft(draft, answers, texts);
  const unconfirmed = found.isConfigured ? [] : unconfirmedIn(chosen, null, texts, isUnread);
  const { address, what, recipients, periods, rightsText: rights } = wizard;
  const { legalName: legal_name, contact } = banner;
  const labels: Readonly<Record<string, string>> = { legal_name, address, contact, what, recipients, periods, rights };
  const blank = factProblems(answers, policy !== null).map(({ field }) => labels[field] ?? field);
  const missing: readonly (readonly [text: string, place: Place])[] = [
    ...(found.isProved ? [] : [[wizard.missingDomain, 'site'] as const]),
    ...(blank.length > 0 ? [[wizard.missingFacts(list(blank)), 'policy'] as const] : []),
    ...(chosen.categories.length === 0 || answers.languages.length === 0
      ? [[wizard.missingBanner, answers.languages.length === 0 ? 'banner' : 'policy'] as const]
      : []),
  ];
  const isReady = missing.length === 0 && (policy === null || gapsIn(policy.content).length === 0);
  const publish = useAction(() =>
    publishAll(api, {
      siteId: site.id,
      policy,
      revision: draft.revision,
      filled: (newest) => chosenDraft(newest, answers, texts),
    }),
  );
  const press = async () => {
    setBusy(true);
    setFailure(null);
    try {
      await publish(undefined);
      kept.forget();
    } catch (error) {
      setFailure(error);
      // The steps before the one that failed are done.
      await queries.invalidateQueries();
    }
    setBusy(false);
  };
  return (
    <Section title={wizard.summary}>
      <Facts
        items={[
          [sites.domain, site.domain],
          [wizard.policy, policy === null ? wizard.textInForce : `${policy.title} (${languageName(policy.language)})`],
          [banner.legalName, answers.legalName],
          [banner.contact, answers.contact],
          [banner.languages, list(answers.languages.map(languageName))],
          [
            banner.categories,
            <div key="categories">
              <ul className="list">
                {chosen.categories.map(({ key, title, lawful_basis }) => (
                  <li key={key}>
                    {title[answers.defaultLanguage] ?? key} ({banner.basis}: {banner.bases[lawful_basis]})
                  </li>
                ))}
              </ul>
              <span className="hint">{wizard.usualBasis}</span>
            </div>,
          ],
          [banner.timeZone, chosen.time_zone ?? banner.noTimeZone],
          [wizard.look, banner.look.layouts[chosen.appearance.layout]],
        ]}
      />
      {policy === null ? null : (
        <details>
          <summary>{wizard.readPolicy}</summary>
          <div className="boxed-text" lang={policy.language} dir="auto">
            <Markdown text={policy.content} />
          </div>
        </details>
      )}
      {unconfirmed.length === 0 ? null : (
        <Notice kind="warning">
          <p>{banner.defaults.publishText(list(unconfirmed.map(languageName)))}</p>
        </Notice>
      )}
      {isReady ? (
        <div className="actions">
          <Button look="primary" isBusy={isBusy} onPress={press}>
            {unconfirmed.length === 0 ? wizard.publish : wizard.publishAndConfirm}
          </Button>
        </div>
      ) : (
        <Notice kind="info">
          <p>{wizard.missing}</p>
          <ul className="list">
            {missing.map(([text, place]) => (
              <li key={text}>
                {text}{' '}
                <Link to="/sites/new" search={{ site: site.id, step: place }}>
                  {wizard.toStep(wizard.names[place])}
                </Link>
              </li>
            ))}
          </ul>
        </Notice>
      )}
      {failure === null ? null : <FailedStep failure={failure} />}
    </Section>
  );
}
