/**
 * Certificates for `localhost`, made once for these tests with OpenSSL 3.0 (`openssl ca -selfsign`): one key, self-signed,
 * one certificate valid from 2020 to 2120, the other on the first day of 2020 alone. The key protects nothing.
 */
export const tlsKey = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg6M5DKZMckbGpF5ss
kMolZrTTljeA+Mac6R+OTC2oVpShRANCAASDzUz+BXfqkXqGeVVEjkxaAl65ql2j
xDB+HMpMMPsLKpDkomTAyts+w1d5ztAzbrW/6VYUvQFE/dS6UEyNGjvl
-----END PRIVATE KEY-----
`

export const certificate = `-----BEGIN CERTIFICATE-----
MIIBXjCCAQSgAwIBAgIBATAKBggqhkjOPQQDAjAUMRIwEAYDVQQDDAlsb2NhbGhv
c3QwIBcNMjAwMTAxMDAwMDAwWhgPMjEyMDAxMDEwMDAwMDBaMBQxEjAQBgNVBAMM
CWxvY2FsaG9zdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABIPNTP4Fd+qReoZ5
VUSOTFoCXrmqXaPEMH4cykww+wsqkOSiZMDK2z7DV3nO0DNutb/pVhS9AUT91LpQ
TI0aO+WjRTBDMBQGA1UdEQQNMAuCCWxvY2FsaG9zdDAMBgNVHRMEBTADAQH/MB0G
A1UdDgQWBBQYgvxlKDLkcLE2+2AMKiFhPVav4TAKBggqhkjOPQQDAgNIADBFAiEA
z8ANyxfYOoeH+IxWhenrzQiK7F1kW9QY7+HwQfyfhZwCIHIWIAvekKyfeuotDDIW
EYjiW1c6xV/QMKtC9mXL1iKA
-----END CERTIFICATE-----
`

export const expiredCertificate = `-----BEGIN CERTIFICATE-----
MIIBWzCCAQKgAwIBAgIBATAKBggqhkjOPQQDAjAUMRIwEAYDVQQDDAlsb2NhbGhv
c3QwHhcNMjAwMTAxMDAwMDAwWhcNMjAwMTAyMDAwMDAwWjAUMRIwEAYDVQQDDAls
b2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAASDzUz+BXfqkXqGeVVE
jkxaAl65ql2jxDB+HMpMMPsLKpDkomTAyts+w1d5ztAzbrW/6VYUvQFE/dS6UEyN
Gjvlo0UwQzAUBgNVHREEDTALgglsb2NhbGhvc3QwDAYDVR0TBAUwAwEB/zAdBgNV
HQ4EFgQUGIL8ZSgy5HCxNvtgDCohYT1Wr+EwCgYIKoZIzj0EAwIDRwAwRAIgdnsu
uZ9hrlH+DeHhpAZQbCTU+p/1gcbo5W0TlFNLcyUCIEdgz8A3raKOFBe3sQBuNskp
r8FlmXFgKrgs6llccqqR
-----END CERTIFICATE-----
`
