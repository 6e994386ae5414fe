package money

import (
	"errors"
	"strconv"
	"strings"
)

// currencies are the codes of ISO 4217 by the number of digits after the point that
// amounts have in practice ("minor units"): the active ones, and those that
// ended since 2020, which data still holds. Funds, metals and test codes, for which
// the standard has no minor unit, are left out.
var currencies = [...]string{
	0: "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF",
	2: "AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BOV BRL BSD BTN BWP BYN BZD " +
		"CAD CDF CHE CHF CHW CNY COP COU CRC CUC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD " +
		"GTQ GYD HKD HNL HRK HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL " +
		"MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR " +
		"RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SLL SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS " +
		"UAH USD USN UYU UZS VED VES WST XCD XCG YER ZAR ZMW ZWG ZWL",
	3: "BHD IQD JOD KWD LYD OMR TND",
	4: "CLF UYW",
}

// unknown marks a code that is no currency.
const unknown = -1

// digits holds the minor units of every code of three letters. It is written once.
var digits = table()

func table() (t [26 * 26 * 26]int8) {
	for i := range t {
		t[i] = unknown
	}
	for units, list := range currencies {
		for _, code := range strings.Fields(list) {
			at, _ := index(code)
			t[at] = int8(units)
		}
	}
	return t
}

// index is the place of a code in the table.
func index(code string) (int, bool) {
	if len(code) != 3 {
		return 0, false
	}
	a, b, c := code[0]-'A', code[1]-'A', code[2]-'A'
	return (int(a)*26+int(b))*26 + int(c), a < 26 && b < 26 && c < 26
}

// unitsOf is the number of digits after the point of a currency's amounts.
func unitsOf(currency string) (int, error) {
	if at, ok := index(currency); ok && digits[at] != unknown {
		return int(digits[at]), nil
	}
	return 0, errors.New(strconv.Quote(currency[:min(len(currency), 20)]) + " is no currency code of ISO 4217")
}
