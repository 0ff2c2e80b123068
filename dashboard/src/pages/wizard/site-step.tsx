import { Link, useNavigate } from '@tanstack/react-router';
import type { Site } from '../../api/types.js';
import { useApi } from '../../app-context.js';
import { useMessages } from '../../i18n/locale.js';
import { ActionForm } from '../../ui/action-form.js';
import { linesOf, TextInput } from '../../ui/fields.js';
import { Section } from '../../ui/page.js';
import { useAction } from '../../ui/use-action.js';
import { domainIn, originsOf } from '../sites/domain-in.js';
import { DomainSection } from '../sites/domain-section.js';
import { siteOf } from './calls.js';
import { StepPage } from './step-page.js';
import type { Kept } from './use-kept.js';

/** Asks for the name and the domain of a site, and adds it. */
export function NewSite({ kept }: { readonly kept: Kept }) {
  const { wizard, sites } = useMessages();
  const api = useApi();
  const navigate = useNavigate();
  const add = useAction(() => {
    const domain = domainIn(kept.text('domain', ''));
    const allowed_origins = originsOf(domain, linesOf(kept.text('allowed_origins', '')));
    return siteOf(api, { name: kept.text('name', '').trim(), domain, allowed_origins });
  });
  const field = (name: string) => ({
    name,
    value: kept.text(name, ''),
    onChange: (text: string) => kept.set({ [name]: text }),
  });
  return (
    <StepPage place="site" siteId={null} lead={wizard.siteLead}>
      <Section title={sites.domainTitle}>
        <ActionForm
          submit={wizard.next}
          isKept
          action={async () => {
            const site = await add(undefined);
            kept.moveTo(site.id);
            await navigate({ to: '/sites/new', search: { site: site.id, step: 'site' }, replace: true });
          }}
        >
          <TextInput {...field('name')} label={sites.name} hint={sites.nameHint} isRequired />
          <TextInput {...field('domain')} label={sites.domain} hint={sites.domainHint} isRequired />
          <details>
            <summary>{wizard.elsewhere}</summary>
            <TextInput {...field('allowed_origins')} label={sites.origins} hint={sites.originsHint} rows={3} isCode />
          </details>
        </ActionForm>
        <p className="hint">{wizard.kept}</p>
      </Section>
    </StepPage>
  );
}

/** The site that was added, and the proof of its domain. */
export function AddedSite({ site }: { readonly site: Site }) {
  const { wizard, sites } = useMessages();
  const lead = site.verified_at === null ? wizard.added(site.name) : sites.nowVerified;
  return (
    <StepPage place="site" siteId={site.id} lead={lead}>
      <DomainSection site={site} />
      <div className="stack">
        <p>
          {site.verified_at === null ? `${wizard.later} ` : ''}
          <Link to="/sites/$siteId" params={{ siteId: site.id }}>
            {wizard.toSettings}
          </Link>
        </p>
        <div className="actions">
          <Link
            className={site.verified_at === null ? 'button' : 'button button-primary'}
            to="/sites/new"
            search={{ site: site.id, step: 'policy' }}
          >
            {wizard.next}
          </Link>
        </div>
      </div>
    </StepPage>
  );
}
