import { Link } from '@tanstack/react-router';
import { useMessages } from '../../i18n/locale.js';
import { Section } from '../../ui/page.js';

interface SettingsFirstProps {
  readonly siteId: string;
  /** Title of what cannot be written yet. */
  readonly title: string;
}

/** Stands in place of a section that needs a language of the site. */
export function SettingsFirst({ siteId, title }: SettingsFirstProps) {
  const { banner } = useMessages();
  return (
    <Section title={title}>
      <p>
        {banner.firstSettings}{' '}
        <Link to="/sites/$siteId/banner/$section" params={{ siteId, section: 'settings' }} hash="languages">
          {banner.languages}
        </Link>
      </p>
    </Section>
  );
}
