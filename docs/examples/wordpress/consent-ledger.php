<?php
/**
 * Plugin Name: Consent Ledger
 * Description: Asks visitors for consent by your own Consent Ledger, keeps embedded videos back until they permit them, and records each choice as evidence.
 * Version: 0.1.0
 * Requires at least: 5.9
 * Requires PHP: 7.4
 * License: Apache-2.0 OR GPL-2.0-or-later
 * License URI: https://www.gnu.org/licenses/gpl-2.0.html
 * Text Domain: consent-ledger
 *
 * SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-or-later
 *
 * Consent Ledger is under the Apache License 2.0, which is compatible with version 3 of the GPL, and not with
 * version 2. WordPress is under "GPL, version 2 or later". So that you may pass this file on together with WordPress
 * whichever of these you choose, it is under your choice of the two licences above. The script that it loads is
 * served by your Consent Ledger, and is no part of it.
 */

defined( 'ABSPATH' ) || exit;

const CONSENT_LEDGER_DEFAULTS = array(
	'service'  => '',
	'key'      => '',
	'google'   => false,
	'embeds'   => true,
	'category' => 'marketing',
);

/** Who gets data when an embed loads, by the host of the page that an author embeds. */
const CONSENT_LEDGER_RECIPIENTS = array(
	'youtube.com'    => 'YouTube (Google Ireland)',
	'youtu.be'       => 'YouTube (Google Ireland)',
	'vimeo.com'      => 'Vimeo',
	'dailymotion.com' => 'Dailymotion',
	'spotify.com'    => 'Spotify',
	'soundcloud.com' => 'SoundCloud',
	'x.com'          => 'X',
	'twitter.com'    => 'X',
	'tiktok.com'     => 'TikTok',
);

/** Google's types, all denied until the visitor chooses. The SDK updates them. */
const CONSENT_LEDGER_GOOGLE = array(
	'ad_storage'              => 'denied',
	'ad_user_data'            => 'denied',
	'ad_personalization'      => 'denied',
	'analytics_storage'       => 'denied',
	'functionality_storage'   => 'denied',
	'personalization_storage' => 'denied',
	'security_storage'        => 'granted',
	'wait_for_update'         => 500,
);

/** One attribute, with its value as it is written. White space is that of HTML. */
const CONSENT_LEDGER_ATTRIBUTE = '~[\t\n\f\r ]++(?<attribute>[a-z][a-z0-9-]*+)(?:[\t\n\f\r ]*+=[\t\n\f\r ]*+(?<value>"[^"]*+"|\'[^\']*+\'|[^\t\n\f\r "\'=<>`]++))?+~i';

/** Text, a tag of text, or a frame or script. The latter are empty, because what is in one is not read as HTML. */
const CONSENT_LEDGER_PIECE = '~\G(?:[^<]++|</(?<end>[a-z][a-z0-9]*+)[\t\n\f\r ]*+>'
	. '|<(?<name>[a-z][a-z0-9]*+)(?<attributes>(?:[\t\n\f\r ]++[a-z][a-z0-9-]*+(?:[\t\n\f\r ]*+=[\t\n\f\r ]*+(?:"[^"]*+"|\'[^\']*+\'|[^\t\n\f\r "\'=<>`]++))?+)*+)[\t\n\f\r ]*+/?+>'
	. '(?:[\t\n\f\r ]*+</(?<empty>iframe|script)[\t\n\f\r ]*+>)?+)~i';

/** Elements that only show text. */
const CONSENT_LEDGER_TEXT = '/^(?:a|b|blockquote|br|cite|div|em|figcaption|figure|h[1-6]|hr|i|li|ol|p|q|section|small|span|strong|time|ul)$/D';

/**
 * Attributes that load nothing, whatever their value. Those of the gate are left out, which only this plugin sets, and
 * names by which scripts of themes know what they load later.
 */
const CONSENT_LEDGER_HARMLESS = '/^(?:align|cite|class|datetime|dir|height|id|lang|rel|role|target|title|width|aria-[a-z]+|data-(?!consent|[a-z0-9-]*(?:src|bg|lazy|poster))[a-z0-9-]+)$/D';

/** What frames and scripts have besides. */
const CONSENT_LEDGER_OWN = array(
	'iframe' => '/^(?:src|allow|allowfullscreen|allowtransparency|frameborder|loading|marginheight|marginwidth|mozallowfullscreen|name|referrerpolicy|sandbox|scrolling|security|webkitallowfullscreen)$/D',
	'script' => '/^(?:src|async|charset|crossorigin|defer|integrity|nonce|referrerpolicy|type)$/D',
);

function consent_ledger_settings(): array {
	$stored = get_option( 'consent_ledger', array() );
	return array_merge( CONSENT_LEDGER_DEFAULTS, is_array( $stored ) ? $stored : array() );
}

function consent_ledger_is_set_up( array $settings ): bool {
	return '' !== $settings['service'] && '' !== $settings['key'];
}

// --- The page ---

// Before everything else that a theme or plugin prints by wp_head, so that no tag runs earlier.
add_action( 'wp_head', 'consent_ledger_print', PHP_INT_MIN );
function consent_ledger_print(): void {
	$settings = consent_ledger_settings();
	if ( ! consent_ledger_is_set_up( $settings ) ) {
		return;
	}
	$attributes = array(
		'src'          => $settings['service'] . '/sdk/consent.js',
		'data-api-key' => $settings['key'],
	);
	if ( $settings['google'] ) {
		// They stand here, and not in the script alone, so that Google's tags wait even if the script cannot be loaded.
		wp_print_inline_script_tag(
			'window.dataLayer=window.dataLayer||[];(function(){dataLayer.push(arguments)})("consent","default",'
			. wp_json_encode( CONSENT_LEDGER_GOOGLE ) . ');'
		);
		$attributes['data-google-consent-mode'] = true;
	}
	wp_print_script_tag( $attributes );
}

// "Cookie settings", for a footer: [consent_settings] or [consent_settings label="…"].
add_shortcode( 'consent_settings', 'consent_ledger_settings_button' );
function consent_ledger_settings_button( $attributes ): string {
	if ( ! consent_ledger_is_set_up( consent_ledger_settings() ) ) {
		return '';
	}
	$attributes = shortcode_atts( array( 'label' => __( 'Cookie settings', 'consent-ledger' ) ), $attributes, 'consent_settings' );
	return '<button type="button" data-consent-settings>' . esc_html( $attributes['label'] ) . '</button>';
}

// --- Embeds ---

add_filter( 'embed_oembed_html', 'consent_ledger_gate_embed', PHP_INT_MAX, 2 );
/**
 * Keeps back what an embed would load: its frames, with a placeholder, and its scripts. An embed with anything else in
 * it that might load becomes a link.
 *
 * @param string|false $html as the provider answered it, cached by WordPress.
 * @param string       $url  that the author entered.
 */
function consent_ledger_gate_embed( $html, string $url ) {
	$settings = consent_ledger_settings();
	if ( ! is_string( $html ) || ! $settings['embeds'] || ! consent_ledger_is_set_up( $settings ) ) {
		return $html;
	}
	$link = '<p><a href="' . esc_url( $url ) . '">' . esc_html( $url ) . '</a></p>';
	// A feed runs no script, so nothing there could ever open the frame.
	if ( is_feed() ) {
		return $link;
	}
	$gate  = 'data-consent="' . esc_attr( $settings['category'] ) . '"';
	$shown = $gate . ' data-consent-placeholder data-consent-recipient="' . esc_attr( consent_ledger_recipient( $url ) ) . '"';
	// What is not understood to the last character is not shown: a browser might load something from it.
	return consent_ledger_gated( $html, $gate, $shown ) ?? $link;
}

/**
 * HTML with its scripts and frames kept back. It reads a small part of HTML that leaves no parser a choice: quoted or
 * plain values, spaces between attributes, and only the elements and attributes below, none of which loads anything
 * but `src` of a frame or script.
 *
 * @param string $gate  the attributes of a script that waits.
 * @param string $shown the attributes of a frame that waits.
 * @return string|null null if any part of the HTML is something else.
 */
function consent_ledger_gated( string $html, string $gate, string $shown ): ?string {
	if ( 1 !== preg_match( '/^[^\x00-\x08\x0B\x0E-\x1F\x7F]*+$/Du', $html ) ) {
		return null;
	}
	$gated = '';
	for ( $at = 0, $end = strlen( $html ); $at < $end; $at += strlen( $found[0] ) ) {
		if ( 1 !== preg_match( CONSENT_LEDGER_PIECE, $html, $found, 0, $at ) ) {
			return null;
		}
		$name   = strtolower( ( $found['name'] ?? '' ) . ( $found['end'] ?? '' ) );
		$empty  = strtolower( $found['empty'] ?? '' );
		$source = $found['attributes'] ?? '';
		$piece  = $found[0];
		if ( '' !== $empty ) {
			$piece = $empty === $name ? consent_ledger_waiting( $name, $source, 'script' === $name ? $gate : $shown ) : null;
		} elseif ( '' !== $name && ( 1 !== preg_match( CONSENT_LEDGER_TEXT, $name ) || null === consent_ledger_attributes( $name, $source ) ) ) {
			$piece = null;
		}
		if ( null === $piece ) {
			return null;
		}
		$gated .= $piece;
	}
	// WordPress runs shortcodes later, also those that a provider wrote, and [video src="…"] would load.
	return str_replace( '[', '&#91;', $gated );
}

/** A frame or a script that waits, or null if it has anything that is not known to wait. */
function consent_ledger_waiting( string $name, string $source, string $waits ): ?string {
	$attributes = consent_ledger_attributes( $name, $source );
	if ( null === $attributes || ! isset( $attributes['src'] ) ) {
		return null;
	}
	$type = strtolower( $attributes['type'] ?? '' );
	unset( $attributes['type'] );
	if ( ! in_array( $type, array( '', 'text/javascript', 'application/javascript' ), true ) ) {
		return null;
	}
	$tag = '<' . $name . ( 'script' === $name ? ' type="text/plain" ' : ' ' ) . $waits;
	foreach ( $attributes as $attribute => $value ) {
		$attribute = 'iframe' === $name && 'src' === $attribute ? 'data-consent-src' : $attribute;
		$tag      .= ' ' . $attribute . '="' . str_replace( '"', '&quot;', $value ) . '"';
	}
	return $tag . '></' . $name . '>';
}

/**
 * The attributes of a tag by their names in lower case, with the values as they are written.
 *
 * @return array<string, string>|null null if one of them is not known to load nothing.
 */
function consent_ledger_attributes( string $name, string $source ): ?array {
	$attributes = array();
	preg_match_all( CONSENT_LEDGER_ATTRIBUTE, $source, $all, PREG_SET_ORDER );
	foreach ( $all as $found ) {
		$attribute = strtolower( $found['attribute'] );
		$value     = $found['value'] ?? '';
		if ( '' !== $value && ( '"' === $value[0] || "'" === $value[0] ) ) {
			$value = substr( $value, 1, -1 );
		}
		$known = 1 === preg_match( CONSENT_LEDGER_HARMLESS, $attribute )
			|| ( array_key_exists( $name, CONSENT_LEDGER_OWN ) && 1 === preg_match( CONSENT_LEDGER_OWN[ $name ], $attribute ) )
			// A function of CSS may load a picture. The one here is in what WordPress itself answers for a post.
			|| ( 'style' === $attribute && 1 === preg_match( '/^(?:rect\(|[\w\s:;.,%#!)-])*+$/D', $value ) )
			|| ( 'a' === $name && 'href' === $attribute && 1 === preg_match( '~^(?:https?:/|/)/~i', $value ) );
		// Of two attributes with one name, browsers take the first.
		if ( ! $known || isset( $attributes[ $attribute ] ) ) {
			return null;
		}
		$attributes[ $attribute ] = $value;
	}
	return $attributes;
}

function consent_ledger_recipient( string $url ): string {
	$host = strtolower( (string) wp_parse_url( $url, PHP_URL_HOST ) );
	foreach ( CONSENT_LEDGER_RECIPIENTS as $domain => $recipient ) {
		if ( $host === $domain || substr( $host, -strlen( $domain ) - 1 ) === '.' . $domain ) {
			return $recipient;
		}
	}
	return $host;
}

// --- The settings page ---

add_action( 'admin_menu', 'consent_ledger_menu' );
function consent_ledger_menu(): void {
	add_options_page( 'Consent Ledger', 'Consent Ledger', 'manage_options', 'consent-ledger', 'consent_ledger_page' );
}

add_action( 'admin_init', 'consent_ledger_register' );
function consent_ledger_register(): void {
	// options.php checks the nonce of the form and the capability manage_options before it calls the function here.
	register_setting(
		'consent_ledger',
		'consent_ledger',
		array(
			'type'              => 'array',
			'sanitize_callback' => 'consent_ledger_sanitize',
			'show_in_rest'      => false,
		)
	);
	add_settings_section( 'consent_ledger', '', '__return_null', 'consent-ledger' );
	$fields = array(
		'service'  => array( __( 'Address of the service', 'consent-ledger' ), __( 'The origin of your Consent Ledger, such as https://consent.example.org.', 'consent-ledger' ) ),
		'key'      => array( __( 'Publishable API key', 'consent-ledger' ), __( 'The dashboard shows it in API & Integrations. Never enter a secret key: this one is in every page.', 'consent-ledger' ) ),
		'google'   => array( __( 'Google Consent Mode', 'consent-ledger' ), __( 'Deny Google’s consent types before any tag, and update them by each choice.', 'consent-ledger' ) ),
		'embeds'   => array( __( 'Embeds', 'consent-ledger' ), __( 'Keep embedded videos and posts back, with a placeholder, until the visitor permits them.', 'consent-ledger' ) ),
		'category' => array( __( 'Category of embeds', 'consent-ledger' ), __( 'The key of a category of your banner. Without such a category, embeds stay closed.', 'consent-ledger' ) ),
	);
	foreach ( $fields as $name => $texts ) {
		$arguments = array(
			'name'      => $name,
			'hint'      => $texts[1],
			'label_for' => 'consent-ledger-' . $name,
		);
		add_settings_field( $name, esc_html( $texts[0] ), 'consent_ledger_field', 'consent-ledger', 'consent_ledger', $arguments );
	}
}

/** Keeps what is valid, and says what is not: the value that was stored before stays. */
function consent_ledger_sanitize( $input ): array {
	$kept  = consent_ledger_settings();
	$input = is_array( $input ) ? $input : array();
	$texts = array();
	foreach ( array( 'service', 'key', 'category' ) as $name ) {
		$texts[ $name ] = isset( $input[ $name ] ) && is_string( $input[ $name ] ) ? trim( wp_unslash( $input[ $name ] ) ) : '';
	}
	$rules = array(
		// Pages over plain HTTP cannot sign requests, except on the machine itself.
		'service'  => array( '#^(https://[a-z0-9.-]+|http://(localhost|127\.0\.0\.1))(:\d{1,5})?/?$#i', __( 'Enter the origin of the service: https:// and a host, with no path.', 'consent-ledger' ) ),
		'key'      => array( '/^svc_(live|test)_[A-Za-z0-9_-]{20,100}$/', __( 'Enter a whole key, which begins with svc_live_ or svc_test_.', 'consent-ledger' ) ),
		'category' => array( '/^[a-z0-9_-]{1,100}$/', __( 'Enter the key of a category of your banner, such as marketing.', 'consent-ledger' ) ),
	);
	foreach ( $rules as $name => $rule ) {
		if ( ( '' === $texts[ $name ] && 'category' !== $name ) || 1 === preg_match( $rule[0], $texts[ $name ] ) ) {
			$kept[ $name ] = rtrim( $texts[ $name ], '/' );
		} else {
			add_settings_error( 'consent_ledger', $name, $rule[1] );
		}
	}
	$kept['google'] = ! empty( $input['google'] );
	$kept['embeds'] = ! empty( $input['embeds'] );
	return array_intersect_key( $kept, CONSENT_LEDGER_DEFAULTS );
}

function consent_ledger_field( array $arguments ): void {
	$name   = $arguments['name'];
	$value  = consent_ledger_settings()[ $name ];
	$common = sprintf(
		'id="consent-ledger-%1$s" name="consent_ledger[%1$s]" aria-describedby="consent-ledger-%1$s-hint"',
		esc_attr( $name )
	);
	if ( is_bool( $value ) ) {
		printf( '<input type="checkbox" value="1" %s %s>', $common, checked( $value, true, false ) ); // phpcs:ignore WordPress.Security.EscapeOutput
	} else {
		printf( '<input type="text" class="regular-text code" spellcheck="false" %s value="%s">', $common, esc_attr( $value ) ); // phpcs:ignore WordPress.Security.EscapeOutput
	}
	printf( '<p class="description" id="consent-ledger-%s-hint">%s</p>', esc_attr( $name ), esc_html( $arguments['hint'] ) );
}

function consent_ledger_page(): void {
	if ( ! current_user_can( 'manage_options' ) ) {
		return;
	}
	echo '<div class="wrap"><h1>Consent Ledger</h1><form action="options.php" method="post">';
	settings_fields( 'consent_ledger' );
	do_settings_sections( 'consent-ledger' );
	submit_button();
	echo '</form></div>';
}

register_uninstall_hook( __FILE__, 'consent_ledger_uninstall' );
function consent_ledger_uninstall(): void {
	delete_option( 'consent_ledger' );
}
