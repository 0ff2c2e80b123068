import { useRouter } from '@tanstack/react-router';
import { Menu, MenuItem, MenuTrigger, Popover, RouterProvider } from 'react-aria-components';
import type { Site } from '../api/types.js';
import { useMessages } from '../i18n/locale.js';
import { Button } from '../ui/button.js';

interface SiteMenuProps {
  /** The site whose links stand below. */
  readonly site: Site;
  readonly sites: readonly Site[];
}

/** The name of the site, and links to the others. Arrow keys move through them, and only a press leaves the page. */
export function SiteMenu({ site, sites }: SiteMenuProps) {
  const { shell } = useMessages();
  const router = useRouter();
  const others = sites.filter(({ id }) => id !== site.id);
  if (others.length === 0) return <p className="site-name">{site.name}</p>;
  const addressOf = (siteId: string) => router.buildLocation({ to: '/sites/$siteId', params: { siteId } }).publicHref;
  return (
    <RouterProvider navigate={(address) => router.history.push(address)}>
      <MenuTrigger>
        <span className="site-menu">
          <Button>
            <span className="for-readers">{shell.chosenSite} </span>
            <span className="site-name">{site.name}</span> <span aria-hidden="true">▾</span>
          </Button>
        </span>
        <Popover className="menu-box" placement="bottom start">
          <Menu className="menu" aria-label={shell.otherSites} items={others}>
            {({ id, name }) => (
              <MenuItem id={id} href={addressOf(id)} className="menu-item">
                {name}
              </MenuItem>
            )}
          </Menu>
        </Popover>
      </MenuTrigger>
    </RouterProvider>
  );
}
